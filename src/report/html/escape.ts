/** Makes text part of a page: whatever it holds, it is shown and not read as markup. */

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // Two of them and a bracket begin a workflow command in the log of a CI job.
  '#': '&#35;',
};

/** For the content of elements, and for values of attributes in quotes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"'#]/g, (character) => entities[character] ?? '');
}
