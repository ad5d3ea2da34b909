// Documents are data: whatever comes from the service is set as text, never as markup. The only attribute ever made from it
// is a link to PubMed, and that of digits alone.

export const byId = (id) => document.getElementById(id);
export const number = (value) => value.toLocaleString("en");
export const count = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

/** A new element holding text. */
export function element(tag, text = "", className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** A new element holding other elements, or texts. */
export function holding(tag, className, ...children) {
  const made = element(tag, "", className);
  made.append(...children);
  return made;
}

/** A new element of a drawing, with its attributes. */
export function drawn(tag, attributes = {}) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** A button that does something, and nothing else: no form is sent by it. */
export function button(text, className, act) {
  const made = element("button", text, className);
  made.type = "button";
  made.addEventListener("click", () => act(made));
  return made;
}

/** A copy of a <template>'s content. */
export const copyOf = (id) => byId(id).content.cloneNode(true);

/** Never “0%” or “100%” for what is only nearly so. */
export function percent(value) {
  if (value > 0 && value < 0.005) return "<1%";
  if (value < 1 && value >= 0.995) return ">99%";
  return `${Math.round(value * 100)}%`;
}

/** Read out by a screen reader, without moving anything. */
export function announce(text) {
  byId("status").textContent = text;
}
