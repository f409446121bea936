// Managers and players of the GGP protocol that behave as the Java programs do that most people use: ggp-base, and the two generations of Dresden's
// GameController. JDK only; `java Peer.java` runs it.
//
// This is our reading of how those programs behave on the wire (docs/protocol.md says which of it is tested), written anew, and none of their code. It
// shares no line with the Rust side either: HTTP, KIF and the two games it knows are written here once more, so that a misunderstanding of ours
// about bytes would have to be made twice.
//
//     java Peer.java manage HOST:PORT RULES_FOLDER     plays matches against a player, prints a line for each, ends with 1 if something was wrong
//     java Peer.java play                              players on free ports: prints "base PORT", "dresden PORT", "lisp PORT" and serves
//
// The games are tictactoe.kif (everything is seen) and monty.kif (the 2012 paper's Monty Hall) in the folder.

import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

public class Peer {
    public static void main(String[] args) throws Exception {
        if (args.length == 3 && args[0].equals("manage")) {
            System.exit(new Manager(args[1], Path.of(args[2])).playAll() ? 0 : 1);
        } else if (args.length == 1 && args[0].equals("play")) {
            for (String kind : List.of("base", "dresden", "lisp")) {
                ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                System.out.println(kind + " " + server.getLocalPort());
                new Thread(new Player(kind, server)).start();
            }
            System.out.flush();
        } else {
            System.err.println("usage: Peer.java manage HOST:PORT RULES_FOLDER | Peer.java play");
            System.exit(2);
        }
    }

    // ---- KIF: an atom is a String, a list a List ----

    static List<Object> parseAll(String text) {
        StringBuilder plain = new StringBuilder();
        for (String line : text.split("\n")) {
            plain.append(line.replaceFirst(";.*", "")).append(' ');
        }
        StringTokenizer tokens = new StringTokenizer(plain.toString(), "() \t\r\n\f", true);
        Deque<List<Object>> open = new ArrayDeque<>();
        open.push(new ArrayList<>());
        while (tokens.hasMoreTokens()) {
            String token = tokens.nextToken();
            if (token.isBlank()) continue;
            if (token.equals("(")) {
                open.push(new ArrayList<>());
            } else if (token.equals(")")) {
                if (open.size() == 1) throw new IllegalArgumentException("a ) too many in " + text);
                List<Object> done = open.pop();
                open.peek().add(done);
            } else {
                open.peek().add(token);
            }
        }
        if (open.size() > 1) throw new IllegalArgumentException("a ) is missing in " + text);
        return open.pop();
    }

    static Object parse(String text) {
        List<Object> all = parseAll(text);
        if (all.isEmpty()) throw new IllegalArgumentException("nothing in " + text);
        return all.get(0);
    }

    /** As ggp-base prints terms: "( mark 1 1 )". */
    static String wide(Object term) {
        if (!(term instanceof List<?> list)) return (String) term;
        StringBuilder out = new StringBuilder("( ");
        for (Object part : list) out.append(wide(part)).append(' ');
        return out.append(')').toString();
    }

    /** As Dresden prints them: "(MARK 1 1)". */
    static String tight(Object term) {
        if (!(term instanceof List<?> list)) return (String) term;
        StringJoiner out = new StringJoiner(" ", "(", ")");
        for (Object part : list) out.add(tight(part));
        return out.toString();
    }

    static String upper(Object term) {
        return tight(term).toUpperCase(Locale.ROOT);
    }

    // ---- the two games, by hand ----

    interface Game {
        List<String> roles();
        boolean over();
        List<String> legal(int role);
        /** Makes a joint move and says what each role perceives of it. */
        List<List<String>> make(List<String> joint);
        int goal(int role);
    }

    static class TicTacToe implements Game {
        final int[] cells = new int[9];
        int turn = 0;

        public List<String> roles() {
            return List.of("xplayer", "oplayer");
        }

        public boolean over() {
            return line(1) || line(2) || turn == 9;
        }

        boolean line(int who) {
            int[][] lines = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};
            for (int[] l : lines) {
                if (cells[l[0]] == who && cells[l[1]] == who && cells[l[2]] == who) return true;
            }
            return false;
        }

        public List<String> legal(int role) {
            if (turn % 2 != role) return List.of("noop");
            List<String> moves = new ArrayList<>();
            for (int at = 0; at < 9; at++) {
                if (cells[at] == 0) moves.add("(mark " + (at / 3 + 1) + " " + (at % 3 + 1) + ")");
            }
            return moves;
        }

        public List<List<String>> make(List<String> joint) {
            List<?> mark = (List<?>) parse(joint.get(turn % 2));
            int at = 3 * (Integer.parseInt((String) mark.get(1)) - 1) + Integer.parseInt((String) mark.get(2)) - 1;
            cells[at] = turn % 2 + 1;
            turn++;
            List<String> did = List.of("(did xplayer " + joint.get(0) + ")", "(did oplayer " + joint.get(1) + ")");
            return List.of(did, did);
        }

        public int goal(int role) {
            return line(role + 1) ? 100 : line(2 - role) ? 0 : 50;
        }
    }

    static class Monty implements Game {
        int step = 1, car, chosen, opened;

        public List<String> roles() {
            return List.of("candidate", "random");
        }

        public boolean over() {
            return step == 4;
        }

        public List<String> legal(int role) {
            List<String> moves = new ArrayList<>();
            if (role == 0) {
                if (step == 1) for (int d = 1; d <= 3; d++) moves.add("(choose " + d + ")");
                else moves.add("noop");
                if (step == 3) moves.add("switch");
            } else {
                for (int d = 1; d <= 3; d++) {
                    if (step == 1) moves.add("(hide_car " + d + ")");
                    if (step == 2 && d != car && d != chosen) moves.add("(open_door " + d + ")");
                }
                if (step == 3) moves.add("noop");
            }
            return moves;
        }

        public List<List<String>> make(List<String> joint) {
            List<String> seen = new ArrayList<>();
            if (step == 1) {
                chosen = number(joint.get(0));
                car = number(joint.get(1));
            } else if (step == 2) {
                opened = number(joint.get(1));
                seen.add(String.valueOf(opened));
            } else {
                if (joint.get(0).equals("switch")) chosen = 6 - chosen - opened;
                seen.add(String.valueOf(car));
            }
            step++;
            return List.of(seen, List.of());
        }

        static int number(String move) {
            return Integer.parseInt((String) ((List<?>) parse(move)).get(1));
        }

        public int goal(int role) {
            return role == 0 && chosen == car ? 100 : 0;
        }
    }

    // ---- managers ----

    enum Kind { BASE, DRESDEN_2010, DRESDEN_2013 }

    static class Manager {
        final String host;
        final int port;
        final Path folder;
        final Random random = new Random(7);
        int wrong = 0;

        Manager(String address, Path folder) {
            this.host = address.substring(0, address.lastIndexOf(':'));
            this.port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
            this.folder = folder;
        }

        boolean playAll() throws Exception {
            String info = say(Kind.BASE, "( INFO )", 1);
            System.out.println("info " + info);
            for (Kind kind : Kind.values()) {
                for (int n = 0; n < 3; n++) {
                    play(kind, "tictactoe", n % 2, n);
                    play(kind, "monty", 0, n);
                }
            }
            System.out.println(wrong + " errors");
            return wrong == 0;
        }

        void play(Kind kind, String name, int role, int number) throws Exception {
            Game game = name.equals("monty") ? new Monty() : new TicTacToe();
            String id = kind.name().charAt(0) + name + "." + kind.ordinal() + "." + number;
            List<Object> rules = parseAll(Files.readString(folder.resolve(name + ".kif")));
            String me = game.roles().get(role);
            int before = wrong;
            expect(say(kind, start(kind, id, me, rules, game), 2), "ready");
            List<String> joint = null;
            List<String> percepts = List.of();
            int turn = 0;
            while (!game.over()) {
                // Dresden's managers pause for half a second here; they need not be waited for.
                String reply = say(kind, news(kind, "PLAY", id, turn, joint, role, percepts), 2);
                List<String> moves = new ArrayList<>();
                for (int r = 0; r < 2; r++) {
                    List<String> legal = game.legal(r);
                    String drawn = legal.get(random.nextInt(legal.size()));
                    moves.add(r == role ? judged(kind, reply, legal, drawn) : drawn);
                }
                percepts = game.make(moves).get(role);
                joint = moves;
                turn++;
            }
            expect(say(kind, news(kind, "STOP", id, turn, joint, role, percepts), 2), "done");
            System.out.println(kind + " " + name + " as " + me + ": " + turn + " rounds, goal " + game.goal(role) + ", errors " + (wrong - before));
        }

        String start(Kind kind, String id, String me, List<Object> rules, Game game) {
            if (kind == Kind.BASE) {
                StringBuilder out = new StringBuilder("( START " + id + " " + me + " (");
                for (Object rule : rules) out.append(wide(rule)).append(' ');
                return out.append(") 2 1)").toString();
            }
            StringJoiner out = new StringJoiner(" ", "(", ")");
            for (Object rule : rules) out.add(upper(rule));
            if (kind == Kind.DRESDEN_2013 && game instanceof TicTacToe) out.add("(<= (SEES ?P (DID ?P2 ?M)) (ROLE ?P) (DOES ?P2 ?M))");
            return "(START " + id + " " + me.toUpperCase(Locale.ROOT) + " " + out + " 2 1)";
        }

        String news(Kind kind, String word, String id, int turn, List<String> joint, int role, List<String> percepts) {
            if (kind == Kind.BASE) {
                if (joint == null) return "( " + word + " " + id + " NIL )";
                StringBuilder out = new StringBuilder("( " + word + " " + id + " (");
                for (String move : joint) out.append(wide(parse(move))).append(' ');
                return out.append(") )").toString();
            }
            StringBuilder list = new StringBuilder("(");
            for (String percept : percepts) list.append(upper(parse(percept))).append(' ');
            list.append(')');
            if (kind == Kind.DRESDEN_2013) {
                if (joint == null) return "(" + word + " " + id + " 0 NIL NIL)";
                return "(" + word + " " + id + " " + turn + " " + upper(parse(joint.get(role))) + " " + list + ")";
            }
            // In 2010: the joint move in open games, percepts alone in others.
            if (joint == null) return "(" + word + " " + id + " NIL)";
            if (joint.get(1).startsWith("(mark") || joint.get(0).startsWith("(mark")) {
                return "(" + word + " " + id + " (" + upper(parse(joint.get(0))) + " " + upper(parse(joint.get(1))) + "))";
            }
            return "(" + word + " " + id + " " + list + ")";
        }

        /** The move that is made for a reply. */
        String judged(Kind kind, String reply, List<String> legal, String drawn) {
            for (String move : legal) {
                // ggp-base compares constants letter by letter, Dresden in upper case.
                boolean same = kind == Kind.BASE ? tight(parse(reply)).equals(move) : upper(parse(reply)).equals(move.toUpperCase(Locale.ROOT));
                if (same) return move;
            }
            System.out.println("illegal: " + reply + ", not one of " + legal);
            wrong++;
            return kind == Kind.BASE ? drawn : legal.get(0);
        }

        void expect(String reply, String wanted) {
            if (!reply.trim().equalsIgnoreCase(wanted)) {
                System.out.println("expected " + wanted + ", not " + reply);
                wrong++;
            }
        }

        String say(Kind kind, String message, int seconds) throws Exception {
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(host, port), 2000);
                socket.setSoTimeout(1000 * (seconds + 1));
                boolean base = kind == Kind.BASE;
                String head = base
                    ? "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: " + host + "\r\nSender: GAMESERVER\r\nReceiver: Somebody\r\nContent-Type: text/acl\r\nContent-Length: "
                    : "POST / HTTP/1.0\r\nAccept: text/delim\r\nSender: Gamecontroller\r\nReceiver: " + host + "\r\nContent-type: text/acl\r\nContent-length: ";
                Writer out = new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8);
                // Characters, not bytes.
                out.write(head + message.length() + "\r\n\r\n" + message);
                out.flush();
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                int length = -1;
                for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
                    if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) length = Integer.parseInt(line.substring(15).trim());
                }
                StringBuilder body = new StringBuilder();
                // ggp-base reads as many characters as it was told; Dresden reads until the other side hangs up.
                while (!base || body.length() < length || length < 0) {
                    int c = in.read();
                    if (c < 0) break;
                    body.append((char) c);
                }
                return body.toString().trim();
            } catch (IOException error) {
                System.out.println("no reply to " + message.substring(0, Math.min(40, message.length())) + ": " + error);
                wrong++;
                return "nil";
            }
        }
    }

    // ---- players ----

    static class Player implements Runnable {
        final String kind;
        final ServerSocket server;
        final Random random = new Random(11);
        String match;
        Game game;
        int role;
        String sent;

        Player(String kind, ServerSocket server) {
            this.kind = kind;
            this.server = server;
        }

        /** One message at a time, as these programs do it. */
        public void run() {
            List<Socket> leaked = new ArrayList<>();
            while (true) {
                try {
                    Socket socket = server.accept();
                    try {
                        String reply = answer(read(socket));
                        write(socket, reply);
                        socket.close();
                    } catch (RuntimeException error) {
                        // ggp-base: no reply, and the connection stays open. The Lisp player says so and hangs up.
                        if (kind.equals("base")) {
                            leaked.add(socket);
                        } else {
                            write(socket, "WHAT");
                            socket.close();
                        }
                    }
                } catch (IOException error) {
                    System.err.println(kind + ": " + error);
                }
            }
        }

        String read(Socket socket) throws IOException {
            BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            int length = 0;
            for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
                if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) length = Integer.parseInt(line.substring(15).trim());
            }
            StringBuilder body = new StringBuilder();
            while (body.length() < length) {
                int c = in.read();
                body.append(c < 0 ? '\uffff' : (char) c);
            }
            return body.toString();
        }

        void write(Socket socket, String reply) throws IOException {
            String text = kind.equals("base") ? reply : reply.toUpperCase(Locale.ROOT);
            // The Lisp player leaves the length out: its reply ends when it hangs up.
            String head = kind.equals("lisp") ? "" : "Content-type: text/acl\r\nContent-length: " + text.length() + "\r\n";
            socket.getOutputStream().write(("HTTP/1.0 200 OK\r\n" + head + "\r\n" + text).getBytes(StandardCharsets.UTF_8));
            socket.getOutputStream().flush();
        }

        String answer(String message) {
            List<?> parts = (List<?>) parse(message);
            String word = ((String) parts.get(0)).toLowerCase(Locale.ROOT);
            if (word.equals("info")) return kind.equals("base") ? "( ( name Peer ) ( status available ) )" : "available";
            String id = (String) parts.get(1);
            switch (word) {
                case "start":
                    if (kind.equals("base") && match != null) return "busy";
                    match = id;
                    game = message.toLowerCase(Locale.ROOT).contains("hide_car") ? new Monty() : new TicTacToe();
                    role = game.roles().indexOf(((String) parts.get(2)).toLowerCase(Locale.ROOT));
                    sent = null;
                    return "ready";
                case "play":
                    if (!id.equals(match)) return "busy";
                    update(parts);
                    List<String> legal = game.legal(role);
                    sent = legal.get(random.nextInt(legal.size()));
                    return kind.equals("base") ? wide(parse(sent)) : sent;
                case "stop":
                    if (!id.equals(match)) return "busy";
                    update(parts);
                    match = null;
                    if (!game.over()) throw new IllegalStateException("stopped before the end");
                    return "done";
                case "abort":
                    match = null;
                    return kind.equals("lisp") ? "done" : "aborted";
                default:
                    throw new IllegalArgumentException(word);
            }
        }

        void update(List<?> parts) {
            boolean turns = parts.size() == 5;
            // ggp-base's player wants exactly three elements and breaks down otherwise; the others take both.
            if (kind.equals("base") && parts.size() != 3) throw new IllegalArgumentException("not three elements");
            Object news = parts.get(turns ? 4 : 2);
            if (!(news instanceof List<?> list)) return;
            if (game instanceof TicTacToe) {
                List<String> joint = new ArrayList<>();
                for (Object item : list) {
                    Object move = turns ? ((List<?>) item).get(2) : item;
                    joint.add(tight(move).toLowerCase(Locale.ROOT));
                }
                // Percepts are a set in any order; the joint move of this game is told apart by who could make it.
                if (turns && joint.size() == 2 && joint.get(0).equals("noop") != (((TicTacToe) game).turn % 2 == 1)) Collections.reverse(joint);
                if (joint.size() == 2) game.make(joint);
            } else {
                Monty monty = (Monty) game;
                if (turns && parts.get(3).equals("NIL")) return;
                String last = turns ? tight(parts.get(3)).toLowerCase(Locale.ROOT) : sent;
                if (monty.step == 1) monty.chosen = Monty.number(last);
                else if (monty.step == 2) monty.opened = Integer.parseInt((String) list.get(0));
                monty.step++;
            }
        }
    }
}
