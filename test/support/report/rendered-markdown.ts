/**
 * Markdown as a platform shows it: rendered by CommonMark with GFM and raw HTML, and then searched for everything that is active: tags
 * that our reports do not have, and texts outside of code from which GitHub and GitLab make links and images.
 */
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

export function rendered(markdown: string): string {
  return micromark(markdown, {
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
    allowDangerousHtml: true,
    allowDangerousProtocol: true,
  });
}

/** The tags of our reports. */
const ownTags = new Set(
  'h2 h3 h4 p br strong code pre ul li table thead tbody tr th td details summary'.split(' '),
);

/** Texts that platforms turn into links after rendering: github.com/github/markup and docs.gitlab.com on references. */
const references: readonly RegExp[] = [
  /(?<![\w`])@[a-z0-9]/i,
  /#\d/,
  /\b(?:GH|GL)-\d/i,
  /\b(?:GHSA|CVE)-\w/i,
  /\b[0-9a-f]{7,64}\b/i,
  /:[\w+-]+:/,
  /[a-z]:\/\//i,
  /\b(?:mailto|xmpp):\w/i,
  /\bwww\.\w/i,
  /\w@\w+\.\w/,
  /[!~%^&$]\w/,
];

/** Everything in the Markdown that is active, each with the text around it. */
export function activeIn(markdown: string): string[] {
  const open: string[] = [];
  const found = [...rendered(markdown).matchAll(/([^<]+)|<(\/?)([a-z0-9]+)([^>]*)>/gi)].flatMap(
    ([, text, closing, tag = '', attributes = '']) => {
      if (text !== undefined) return open.includes('code') ? [] : referencesIn(decoded(text));
      if (closing === '/') open.splice(open.lastIndexOf(tag), 1);
      else if (tag !== 'br') open.push(tag);
      const isOurs = ownTags.has(tag) && ownAttributes.test(attributes);
      return isOurs ? [] : [`<${tag}${attributes}>`];
    },
  );
  return [...found, ...open.map((tag) => `${tag} is never closed`)];
}

/** The attributes of these tags: a class with the language of a code block, or the alignment of a cell. */
const ownAttributes = /^(?: \/| class="language-(?:diff|text)"| align="\w+")?$/;

function referencesIn(text: string): string[] {
  return references.flatMap((pattern) => text.match(pattern)?.map((found) => `${found} in ${text}`) ?? []);
}

/** The text that a reader sees, without zero-width spaces. */
export function visibleText(markdown: string): string {
  return decoded(rendered(markdown).replace(/<[^>]*>/g, '')).replaceAll('\u200b', '');
}

function decoded(html: string): string {
  const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&' };
  return html.replace(/&(lt|gt|quot|amp);/g, (_, name: string) => characters[name] ?? '');
}
