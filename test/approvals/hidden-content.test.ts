import { deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { hiddenContent, readHiddenContent } from '../../src/approvals/hidden-lines.ts';

const content = { version: 3, targets: [], items: ['["Workspace/acme/app","update"]', '--> <b>'] };

it('the hidden content of a plan comment can be read, also after an edit on the web page', () => {
  const line = hiddenContent(content);
  expect(line).not.toContain('\n');
  expect(line.slice(4, -3)).not.toMatch(/--|>/);
  expect(readHiddenContent(`<!-- trueup plan x -->\r\n\r\nText\r\n${line}\r\nMore`)).toEqual(content);
});

it.each([
  ['no hidden line', 'No plan here'],
  ['invalid Base64', '<!-- trueup-plan: %%% -->'],
  ['no compressed data', '<!-- trueup-plan: aGVsbG8= -->'],
  ['invalid JSON', `<!-- trueup-plan: ${deflateRawSync('{').toString('base64')} -->`],
  [
    'a decompression bomb',
    `<!-- trueup-plan: ${deflateRawSync(Buffer.alloc(17 * 1024 * 1024)).toString('base64')} -->`,
  ],
])('a comment with %s has no hidden content', (_, body) => {
  expect(readHiddenContent(body)).toBeUndefined();
});
