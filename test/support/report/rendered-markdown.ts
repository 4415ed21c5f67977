/**
 * Markdown as a platform shows it: rendered by CommonMark with GFM, raw HTML let through, and then searched for everything that does
 * something: tags that no report of ours has, and in text outside of code what GitHub and GitLab make links and pictures of.
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

/** With nothing but a class that names the language of a block, and the alignment of a cell. */
const ownTags = new Set(
  'h2 h3 h4 p br strong code pre ul li table thead tbody tr th td details summary'.split(' '),
);

/** What platforms look for in text after it was rendered: github.com/github/markup and docs.gitlab.com on references. */
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

/** Each thing that is active in the Markdown, with what is around it. */
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

const ownAttributes = /^(?: \/| class="language-(?:diff|text)"| align="\w+")?$/;

function referencesIn(text: string): string[] {
  return references.flatMap((pattern) => text.match(pattern)?.map((found) => `${found} in ${text}`) ?? []);
}

/** What a reader sees, without what only stands between two characters. */
export function visibleText(markdown: string): string {
  return decoded(rendered(markdown).replace(/<[^>]*>/g, '')).replaceAll('\u200b', '');
}

function decoded(html: string): string {
  const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', amp: '&' };
  return html.replace(/&(lt|gt|quot|amp);/g, (_, name: string) => characters[name] ?? '');
}
