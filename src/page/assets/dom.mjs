// Builds elements. Text from the session only ever becomes text nodes and attribute values, never markup.

/** Creates an element: attributes, `on…` listeners, then children (strings become text). */
export function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Replaces what is in an element. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

/** The element with this id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Control characters and marks that change the direction of text become visible, as in a terminal. */
export function visible(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (found) => {
    const code = found.charCodeAt(0);
    if (code === 0x0a) return "↵";
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}
