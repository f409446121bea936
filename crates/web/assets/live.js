// Announcements for screen readers, through the page's live region.

/** @param {string} text */
export function announce(text) {
  const region = document.getElementById("live");
  if (!region) return;
  // A text that repeats is read again only if the region changes.
  region.textContent = region.textContent === text ? `${text} ` : text;
}
