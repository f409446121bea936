// A game tree with its information sets as an SVG drawing: leaves side by side, a level for each decision, and a dashed
// arc between the nodes that a role cannot tell apart.

import { el, percent, plain, short, svg } from "./dom.js";
import { roleClass } from "./pieces.js";

const LEVEL = 74;
const EDGE = 34;

/** @typedef {import("./types.js").TreeNode} TreeNode */
/** @typedef {{x: number, y: number, children: number[]}} Spot */

/** @param {TreeNode[]} nodes @param {string[]} roles */
export function drawTree(nodes, roles) {
  const wide = Math.max(
    62,
    ...nodes.filter((node) => node.goals).map((node) => sayGoals(node, roles).length * 6.5 + 8),
  );
  const spots = layOut(nodes, wide);
  const width = Math.max(...spots.map((spot) => spot.x)) + EDGE;
  const height = Math.max(...spots.map((spot) => spot.y)) + EDGE;
  const picture = svg(
    "svg",
    {
      class: "tree",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-label": `Game tree with ${nodes.length} nodes; the strategy above says the same in words`,
    },
    ...edges(nodes, spots),
    ...arcs(nodes, spots, roles),
    ...nodes.map((node, i) => drawNode(node, spots[i], roles)),
  );
  return el("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Game tree" }, picture);
}

/**
 * Leaves from left to right, parents above the middle of their children.
 *
 * @param {TreeNode[]} nodes
 * @param {number} wide
 */
function layOut(nodes, wide) {
  /** @type {Spot[]} */
  const spots = nodes.map((node) => ({ x: 0, y: 0, children: [] }));
  nodes.forEach((node, i) => {
    if (node.parent === null) return void (spots[i].y = EDGE);
    spots[node.parent].children.push(i);
    spots[i].y = spots[node.parent].y + LEVEL;
  });
  let next = EDGE;
  // Depth first, so that the leaves of a subtree stay together; a stack, because trees may be deep.
  const order = [];
  const stack = nodes.map((node, i) => (node.parent === null ? i : -1)).filter((i) => i >= 0);
  while (stack.length) {
    const i = /** @type {number} */ (stack.pop());
    order.push(i);
    stack.push(...[...spots[i].children].reverse());
  }
  for (const i of order) {
    if (!spots[i].children.length) {
      spots[i].x = next;
      next += wide;
    }
  }
  for (const i of order.reverse()) {
    const { children } = spots[i];
    if (children.length) spots[i].x = (spots[children[0]].x + spots[children[children.length - 1]].x) / 2;
  }
  return spots;
}

/** @param {TreeNode[]} nodes @param {Spot[]} spots */
function edges(nodes, spots) {
  return nodes.flatMap((node, i) => {
    if (node.parent === null) return [];
    const from = spots[node.parent];
    const to = spots[i];
    // Moves of probability 0 stay visible, but thin.
    const strength = 0.6 + 2.4 * (node.p ?? 0);
    const label = node.p < 0.9995 && node.p > 0.0005 ? `${plain(node.move)} ${percent(node.p)}` : plain(node.move);
    return [
      svg(
        "line",
        { class: "edge", x1: from.x, y1: from.y, x2: to.x, y2: to.y, "stroke-width": strength },
        svg("title", {}, `${plain(node.move)}: ${percent(node.p)}`),
      ),
      svg(
        "text",
        {
          class: "edge-label",
          x: from.x * 0.35 + to.x * 0.65,
          y: from.y * 0.35 + to.y * 0.65,
          "text-anchor": "middle",
        },
        label.length > 14 ? `${label.slice(0, 13)}…` : label,
      ),
    ];
  });
}

/** @param {TreeNode[]} nodes @param {Spot[]} spots @param {string[]} roles */
function arcs(nodes, spots, roles) {
  /** @type {Map<string, number[]>} */
  const sets = new Map();
  nodes.forEach((node, i) => {
    if (node.set === null || node.set === undefined || !node.role) return;
    const key = `${node.role} ${node.set}`;
    sets.set(key, [...(sets.get(key) ?? []), i]);
  });
  return [...sets.values()].flatMap((members) => {
    const sorted = [...members].sort((a, b) => spots[a].x - spots[b].x);
    const role = nodes[members[0]].role;
    return sorted.slice(1).map((i, k) => {
      const a = spots[sorted[k]];
      const b = spots[i];
      const bend = Math.min(26, 8 + Math.abs(b.x - a.x) / 12);
      return svg("path", {
        class: `set ${roleClass(role, roles)}`,
        d: `M${a.x},${a.y} Q${(a.x + b.x) / 2},${Math.min(a.y, b.y) - bend} ${b.x},${b.y}`,
      });
    });
  });
}

/** @param {TreeNode} node @param {Spot} spot @param {string[]} roles */
function drawNode(node, spot, roles) {
  if (!node.role) {
    return svg(
      "g",
      {},
      svg("rect", { class: "leaf", x: spot.x - 3, y: spot.y - 3, width: 6, height: 6 }),
      svg("text", { x: spot.x, y: spot.y + 17, "text-anchor": "middle" }, sayGoals(node, roles)),
    );
  }
  const chance = !roles.includes(node.role);
  const shape = chance
    ? svg("rect", {
        class: "node nobody",
        x: spot.x - 6,
        y: spot.y - 6,
        width: 12,
        height: 12,
        transform: `rotate(45 ${spot.x} ${spot.y})`,
      })
    : svg("circle", { class: `node ${roleClass(node.role, roles)}`, cx: spot.x, cy: spot.y, r: 7 });
  return svg("g", {}, shape, svg("title", {}, chance ? "chance" : `${node.role} decides`));
}

/** @param {TreeNode} node @param {string[]} roles */
const sayGoals = (node, roles) => roles.map((role) => short(node.goals?.[role] ?? 0)).join(", ");
