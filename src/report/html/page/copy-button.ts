/** A button that copies a text, where the browser lets pages do so. */
import { button } from './elements.ts';

/** @param what names the text for those who do not see where the button stands */
export function copyButton(text: string, what: string): HTMLElement | undefined {
  // Browsers know no clipboard in a page that came without encryption.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) return undefined;
  const say = (word: string) => made.replaceChildren(word);
  const made = button(
    'Copy',
    () => {
      clipboard.writeText(text).then(
        () => say('Copied'),
        () => say('Not allowed'),
      );
    },
    { class: 'small', 'aria-label': `Copy the ${what}` },
  );
  return made;
}
