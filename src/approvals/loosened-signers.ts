/** The signers that a change of a file of allowed signers newly admits. */
import type { LoosenedSetting } from '../model/guard.ts';
import { type ListElement, loosenedList } from '../model/loosened-list.ts';
import { quoted } from '../model/quoted.ts';
import { fingerprintOfKey } from './signed-approval.ts';

/**
 * The file is not part of a plan, so an added key would be valid from the next commit on without a review.
 * @param texts undefined for a file that does not exist. @returns at most one element
 */
export function loosenedSigners(
  file: string,
  texts: { readonly before: string | undefined; readonly after: string | undefined },
): LoosenedSetting[] {
  const [before, after] = [linesIn(texts.before), linesIn(texts.after)];
  if (after.every((line) => before.includes(line))) return [];
  return [
    loosenedList(
      `the file ${quoted(file)} of signers`,
      { before: before.length === 0 ? undefined : before.map(elementOf), after: after.map(elementOf) },
      { before: 'no signers', after: 'no signers' },
    ),
  ];
}

function linesIn(text = ''): readonly string[] {
  return text.split(/\r?\n/).flatMap((line) => (/^\s*(#|$)/.test(line) ? [] : [line.trim()]));
}

/** As ssh-keygen reads a line: principals, perhaps options, the type of a key, the key, and perhaps a comment. */
function elementOf(line: string): ListElement {
  const [principals = '', rest = ''] = splitAfter(line, /^(?:"[^"]*"|[^ \t"][^ \t]*)(?=[ \t])/);
  const [options = '', further = ''] = splitAfter(rest, beginsWithOptions);
  const parts = keyIn(rest) ?? keyIn(further, options);
  if (parts === undefined) return { whole: line, shown: quoted(line) };
  const { key, about } = parts;
  const shown = `key ${fingerprintOfKey(key)} of ${quoted(principals)}`;
  return { whole: line, shown: about.length === 0 ? shown : `${shown} (${about.join(', ')})` };
}

/** Options end at a space outside of double quotes, in which `\"` ends nothing. */
const beginsWithOptions = /^(?:\\"|\\(?!")|"(?:\\"|\\(?!")|[^"\\])*"|[^ \t"\\])+(?=[ \t])/;

/** The match at the beginning of a text, and what follows after spaces; empty without a match. */
function splitAfter(text: string, pattern: RegExp): readonly string[] {
  const [begin] = pattern.exec(text) ?? [];
  return begin === undefined ? [] : [begin, text.slice(begin.length).replace(/^[ \t]+/, '')];
}

/** The key at the beginning of a text. It begins with the length and the name of its type. @returns undefined for another text */
function keyIn(text: string, options = ''): { readonly key: string; readonly about: string[] } | undefined {
  const [, type = '', key = '', comment = ''] =
    /^([^ \t]+)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+(.*))?$/s.exec(text) ?? [];
  const content = Buffer.from(key, 'base64');
  if (content.length <= 4) return undefined;
  if (content.toString('latin1', 4, 4 + content.readUInt32BE(0)) !== type) return undefined;
  const about = Object.entries({ options, comment }).filter(([, value]) => value !== '');
  return { key, about: about.map(([name, value]) => `${name} ${quoted(value)}`) };
}
