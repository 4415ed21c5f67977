/** The lint of a config's certificates, whether of the CA or of keys: signed with SHA-1, or soon to expire. */
import type { X509Certificate } from 'node:crypto';
import type { Path } from '../../model/json/json.ts';
import { counted } from '../../model/counted.ts';
import type { CheckContext, ResourceProblem } from '../../model/kind/kind.ts';
import type { Dialect } from '../../model/stack/target.ts';
import { quoted } from '../../model/quoted.ts';
import { certificateIn, isSignedWithSha1, pemBlocks } from './pem.ts';
import type { ConfigSpec } from './schema.ts';

const day = 86_400_000;

/** In milliseconds: a certificate that expires sooner is reported. */
const soon = 30 * day;

/** @param context.now milliseconds since 1970; absent: nothing is judged by the time */
export function certificateProblems(
  spec: ConfigSpec,
  { dialect, now }: Pick<CheckContext, 'dialect' | 'now'>,
): ResourceProblem[] {
  return pemTexts(spec).flatMap(({ text, path }) =>
    pemBlocks(text).flatMap((block) => {
      const certificate = certificateIn(block);
      if (certificate === undefined) return [];
      return [
        ...weakSignature(certificate, path, dialect),
        ...(now === undefined ? [] : validity(certificate, path, now)),
      ];
    }),
  );
}

function pemTexts({ clusterCaCert: cert, pemKeys: keys }: ConfigSpec): { text: string; path: Path }[] {
  const elements = Array.isArray(keys)
    ? keys.map((key, index) => ({ text: String(key), path: ['pemKeys', String(index)] }))
    : [{ text: typeof keys === 'string' ? keys : '', path: ['pemKeys'] }];
  return [{ text: typeof cert === 'string' ? cert : '', path: ['clusterCaCert'] }, ...elements];
}

function weakSignature(
  certificate: X509Certificate,
  path: Path,
  { verifiesSha1 }: Dialect,
): ResourceProblem[] {
  if (!isSignedWithSha1(certificate)) return [];
  const why = verifiesSha1 ? 'which can be forged' : 'which services no longer accept';
  const message = `${titleOf(certificate)} is signed with SHA-1, ${why}`;
  return [lint('certificate-with-sha1', path, message, 'let its authority sign a new one with SHA-256')];
}

function validity(certificate: X509Certificate, path: Path, now: number): ResourceProblem[] {
  const [from, to] = [certificate.validFromDate, certificate.validToDate];
  const told = (when: string, fix: string) => [
    lint('certificate-expires', path, `${titleOf(certificate)} ${when}`, fix),
  ];
  if (now > to.getTime()) return told(`expired on ${dateOf(to)}`, 'replace it');
  if (now < from.getTime())
    return told(`is not valid before ${dateOf(from)}`, 'check the date, or the clock here');
  const left = to.getTime() - now;
  if (left > soon) return [];
  const days = Math.floor(left / day);
  const when = days === 0 ? 'in less than a day' : `in ${counted(days, 'day')}`;
  return told(`expires on ${dateOf(to)}, ${when}`, 'replace it before that day');
}

function lint(code: ResourceProblem['code'], path: Path, message: string, fix: string): ResourceProblem {
  return { code, severity: 'warning', path, message, fix };
}

/** `the certificate of "CN=cluster-ca"`. */
function titleOf({ subject = '' }: X509Certificate): string {
  return `the certificate of ${quoted(subject.replaceAll(/\s*\n\s*/g, ', '))}`;
}

function dateOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}
