/** What all pages have in common: head, navigation, times, paging. */
import { createHash } from 'node:crypto';
import { formatAgo } from '../../../report/view/format-last-modified.ts';
import report from '../../../report/html/page.json' with { type: 'json' };
import { type Content, type Html, html } from './html.ts';
import { consoleStyle } from './style.ts';

/** The style of reports, and the additions of the console. */
export const styleSheet = `${report.style}${consoleStyle}`;
export const stylePath = `/style-${createHash('sha256').update(styleSheet).digest('hex').slice(0, 12)}.css`;

interface Shell {
  /** of the fleet */
  readonly fleet: string;
  /** who is logged in; undefined without a login */
  readonly user: string | undefined;
  /** whether the console itself has logged the user in */
  readonly canSignOut: boolean;
}

const pages = [
  ['/', 'Fleet'],
  ['/access', 'Access'],
  ['/activity', 'Activity'],
  ['/capacity', 'Capacity'],
  ['/health', 'Health'],
] as const;

interface PageContent {
  readonly title: string;
  /** of the page, or of its parent page */
  readonly path: string;
  readonly head?: Content;
  readonly body: Content;
}

export function document(shell: Shell, { title, path, head, body }: PageContent): string {
  return page({
    title: `${title} · ${shell.fleet}`,
    body: html`<a class="skip" href="${hash}content">Skip to content</a>
<header class="head"><div class="head-inner">
<div class="top"><p class="fleet-name">Fleet <strong>${shell.fleet}</strong></p>${userText(shell)}</div>
<nav aria-label="Pages"><ul>${pages.map(
      ([target, name]) => html`<li><a href="${target}"${target === path && current}>${name}</a></li>`,
    )}</ul></nav>
<h1>${title}</h1>
${head}
</div></header>
<main id="content" tabindex="-1">
${body}
</main>`,
  });
}

function userText({ user, canSignOut }: Shell): Html | undefined {
  if (user === undefined) return undefined;
  if (!canSignOut) return html`<p class="muted">${user}</p>`;
  return html`<form class="user" method="post" action="/logout"><span class="muted">${user}</span> <button>Sign out</button></form>`;
}

/** A page for users that are not logged in: without the fleet, and without links to its pages. */
export function plainDocument({ title, head, body }: Omit<PageContent, 'path'>): string {
  return page({
    title,
    head,
    body: html`<header class="head"><div class="head-inner"><h1>${title}</h1></div></header>
<main id="content">
${body}
</main>`,
  });
}

function page({ title, head, body }: Omit<PageContent, 'path'>): string {
  return `<!doctype html>\n${html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${stylePath}">
${head}<title>${title} · trueup</title>
</head>
<body class="console">
${body}
</body>
</html>
`}`;
}

/** As Html, because `html` escapes the character in a value. */
const hash = html`#`;
const current = html` aria-current="page"`;

/** A link to the same page with other filters. Filters without a value are left out. */
export function link(path: string, filters: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined && value !== '');
  if (given.length === 0) return path;
  return `${path}?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)])))}`;
}

/** The repository and the path of a stack, without the file name "trueup.yaml". */
export function stackName(repository: string, path: string): string {
  return `${repository}/${path.replace(/\/trueup\.yaml$/, '')}`;
}

export function stackLink(repository: string, path: string): Html {
  const target = link('/stack', { repository, path });
  return html`<span class="stack-name"><a href="${target}">${stackName(repository, path)}</a></span>`;
}

/** When the next check is due. */
export function dueText(at: number | undefined, now: number): Content {
  return at !== undefined && at > now ? timeText(at, now) : 'due';
}

/** How long ago, or how far ahead. The time itself is shown when the reader points at it. */
export function timeText(at: number | undefined, now: number): Html {
  if (at === undefined) return html`<span class="muted">never</span>`;
  const iso = new Date(at).toISOString();
  const ahead = at - now;
  const words = ahead > 0 ? `in ${durationText(ahead / 1000)}` : formatAgo(at, now);
  return html`<time datetime="${iso}" title="${iso.slice(0, 19).replace('T', ' ')} UTC">${words}</time>`;
}

export function clockText(at: number): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

export function durationText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

export function numberText(value: number): string {
  return value.toLocaleString('en');
}

export const pageSize = 50;

interface Paging {
  readonly path: string;
  readonly filters: Readonly<Record<string, string | undefined>>;
  /** from 1 */
  readonly page: number;
  readonly total: number;
  /** what is counted, such as "stack" */
  readonly what: string;
}

export function pager({ path, filters, page: at, total, what }: Paging): Html {
  const first = (at - 1) * pageSize + 1;
  const last = Math.min(total, at * pageSize);
  const to = (page: number) => link(path, { ...filters, page: page === 1 ? undefined : page });
  const counted = `${numberText(total)} ${what}${total === 1 ? '' : 's'}`;
  const range = total === 0 ? `no ${what}s` : `${numberText(first)}–${numberText(last)} of ${counted}`;
  return html`<nav class="pager" aria-label="Paging"><span>${range}</span>
${at > 1 && html`<a href="${to(at - 1)}" rel="prev">Previous</a>`}
${last < total && html`<a href="${to(at + 1)}" rel="next">Next</a>`}</nav>`;
}

/** The page that a request asks for, at most the last one. */
export function pageIn(asked: string | undefined, total: number): number {
  const page = /^[1-9]\d{0,6}$/.test(asked ?? '') ? Number(asked) : 1;
  return Math.max(1, Math.min(page, Math.ceil(total / pageSize)));
}

/** A table that becomes a list on a phone, where each cell has its heading in front. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly Content[])[],
  caption: string,
): Html {
  return html`<table class="static"><caption class="hidden">${caption}</caption>
<thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>${rows.map(
    (cells) =>
      html`<tr>${cells.map((cell, index) => html`<td data-label="${headings[index] ?? ''}">${cell}</td>`)}</tr>`,
  )}</tbody></table>`;
}

/** A command to copy: one click selects it. */
export function commandLine(command: string): Html {
  return html`<pre class="command-text" tabindex="0"><code>${command}</code></pre>`;
}
