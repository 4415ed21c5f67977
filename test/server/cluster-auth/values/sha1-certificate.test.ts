import { expect, it } from 'vitest';
import { isSha1Certificate } from '../../../../src/server/cluster-auth/public-keys.ts';
import { publicKeyOf } from '../../../support/server/cluster-auth/issuing-cluster.ts';
import { fixtures } from '../../../support/server/cluster-auth/replay/vectors.ts';
import { sha1Certificate } from '../../../support/server/cluster-auth/sha1-signer.ts';

it('recognizes a certificate that was signed with SHA-1', () => {
  expect(isSha1Certificate(sha1Certificate)).toBe(true);
});

it.each([
  ['a certificate with another signature', fixtures().certs.ca.certificate],
  ['a key', publicKeyOf('ES256')],
  ['an empty text', ''],
  ['a text', 'nonsense'],
  ['an invalid PEM block', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'],
  ['a truncated certificate', sha1Certificate.replace(/\n.*\n-----END/, '\n-----END')],
])('does not mistake %s for such a certificate', (_case, text) => {
  expect(isSha1Certificate(text)).toBe(false);
});
