/**
 * The page around the data of a report: one file that asks no network for anything. Texts from outside stand in the data, where `<` is
 * escaped and the page's script puts them in as text, and, escaped, in what is shown without a script. The policy lets nothing run or
 * paint but what this file carries.
 */
import { createHash } from 'node:crypto';
import { printableJson } from '../format/printable.ts';
import page from './page.json' with { type: 'json' };
import type { ReportView } from './report-view.ts';
import { staticReport } from './static-report.ts';

/** @param view without secrets: escapes could hide them from whoever looks for them in the result */
export function htmlDocument(view: ReportView): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="trueup">
<link rel="icon" href="data:,">
<title>trueup</title>
<style>${page.style}</style>
</head>
<body>
<noscript>
${staticReport(view)}
</noscript>
<script type="application/json" id="report">${safeJson(view)}</script>
<script>${page.script}</script>
</body>
</html>`;
}

function policy(): string {
  const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return [
    "default-src 'none'",
    `script-src ${hash(page.script)}`,
    `style-src ${hash(page.style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/** Nothing in it ends a script, opens a comment or reorders what somebody reads who looks at the file itself. */
function safeJson(value: object): string {
  return printableJson(JSON.stringify(value)).replace(
    /[<>&]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
