import { deflateRawSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { hiddenContent, readHiddenContent } from '../../src/approvals/hidden-lines.ts';

const content = { version: 3, targets: [], items: ['["Workspace/acme/app","update"]', '--> <b>'] };

it('the content of a plan is read from its comment again, also after somebody edited it on a web page', () => {
  const line = hiddenContent(content);
  expect(line).not.toContain('\n');
  expect(line.slice(4, -3)).not.toMatch(/--|>/);
  expect(readHiddenContent(`<!-- trueup plan x -->\r\n\r\nText\r\n${line}\r\nMore`)).toEqual(content);
});

it.each([
  ['nothing', 'No plan here'],
  ['no Base64', '<!-- trueup-plan: %%% -->'],
  ['nothing packed', '<!-- trueup-plan: aGVsbG8= -->'],
  ['no JSON', `<!-- trueup-plan: ${deflateRawSync('{').toString('base64')} -->`],
  ['a bomb', `<!-- trueup-plan: ${deflateRawSync(Buffer.alloc(17 * 1024 * 1024)).toString('base64')} -->`],
])('%s is no content', (_, body) => {
  expect(readHiddenContent(body)).toBeUndefined();
});
