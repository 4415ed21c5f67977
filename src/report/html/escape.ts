/** Escapes text for HTML, so that a page shows it and never reads it as markup. */

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // `##[` begins a workflow command in the log of a CI job.
  '#': '&#35;',
};

/** For the content of elements, and for values of attributes in quotes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"'#]/g, (character) => entities[character] ?? '');
}
