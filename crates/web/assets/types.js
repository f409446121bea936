/**
 * Types of what the server answers (docs/table.md has every field). This module holds no code.
 *
 * @typedef {{text: string, glyph?: string|null, role?: string|null, p?: number}} Piece
 * @typedef {{row: number, column: number, name: string, pieces: Piece[]}} Cell
 * @typedef {{kind: "board", name: string, shape: "grid"|"hex", role?: string|null, rows: string[], columns: string[],
 *            cells: Cell[]}} BoardPart
 * @typedef {{kind: "hand", name: string, role?: string|null, cards: Piece[]}} HandPart
 * @typedef {{kind: "counter", name: string, role?: string|null, of?: string|null, values: Piece[]}} CounterPart
 * @typedef {{kind: "list", name: string, facts: Piece[]}} ListPart
 * @typedef {BoardPart|HandPart|CounterPart|ListPart} Part
 * @typedef {{move: string, label: string, part?: number|null, from?: number[]|null, to?: number[]|null}} Move
 * @typedef {{parts: Part[], moves: Move[]}} Picture
 *
 * @typedef {{move: string, sees: string[]}} Told
 * @typedef {{possible: boolean, asked: boolean, waiting?: boolean, needs_consent: boolean}} Undo
 * @typedef {{id: string, game: string, title: string, role: string|null, roles: string[],
 *            players: Record<string, string>, round: number, told: Told[], legal: string[], board: Picture|null,
 *            finished: boolean, aborted: boolean, to_move: boolean, clock: number|null, undo: Undo,
 *            goals?: Record<string, number>|null, watching?: {running: boolean, delay: number}|null,
 *            watch?: string, rematch?: string}} View
 *
 * @typedef {{p: number, picture?: Picture|null, facts?: string[], line?: unknown[]}} Likely
 * @typedef {{role: string, round: number, exact: boolean, states: number, histories: number, models?: number,
 *            board: Picture, likely: Likely[], information: {move: string, bits: number}[],
 *            entropy: {round: number, bits: number, states: number}[], truth?: Picture|null}} Belief
 *
 * @typedef {{name: string, min: number, max: number, default: number, about: string}} Parameter
 * @typedef {{name: string, title: string, about: string, tags: string[], hidden: boolean, parameters: Parameter[],
 *            roles: string[], rules?: string, sees?: string, hidden_text?: string, picture?: Picture|null}} Game
 * @typedef {{name: string, summary: string, use: string, example?: string, open_only?: boolean,
 *            saved?: string[],
 *            options: {name: string, default: string|null, about: string}[]}} PlayerKind
 * @typedef {{code: string, severity: string, message: string, help?: string|null, line: number, column: number,
 *            end_line?: number, end_column?: number}} Finding
 * @typedef {{id: string, seats: Record<string, {token: string, url: string}>, watch: string}} NewTable
 * @typedef {{x: number, y: number}} Point
 * @typedef {{parent: number|null, move: string, role: string|null, set: number|null, p: number,
 *            goals: Record<string, number>|null}} TreeNode
 */

export {};
