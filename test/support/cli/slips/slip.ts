/**
 * Mistakes in manifests, each an edit of the quickstart example, with the expected problems: their codes, their places, and their
 * fixes (or the allowed values of problems without a fix).
 */
export interface Slip {
  readonly slip: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** `code file:line:column`, and the fix, for each problem */
  readonly expected: readonly (readonly [string, string])[];
}

/** One problem, in the file that is broken. */
export function slip(
  title: string,
  file: string,
  change: readonly [string, string],
  expected: readonly [string, string],
): Slip {
  const [code, fix] = expected;
  const at = code.lastIndexOf(' ') + 1;
  const place = `${code.slice(0, at)}${file}:${code.slice(at)}`;
  return { slip: title, file, from: change[0], to: change[1], expected: [[place, fix]] };
}

export const network = 'manifests/network.yaml';
export const payments = 'manifests/payments.yaml';
export const platform = 'manifests/platform.yaml';
export const clusterAuth = 'manifests/cluster-auth.yaml';
export const stack = 'trueup.yaml';
