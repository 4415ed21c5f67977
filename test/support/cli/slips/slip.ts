/**
 * Ways in which people break manifests, each an edit of the quickstart example, with what they must be told: the code,
 * the place, and the way out (the fix, or what is allowed where that says it all).
 */
export interface Slip {
  readonly slip: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** `code file:line:column`, and the way out, for each problem */
  readonly told: readonly (readonly [string, string])[];
}

/** One problem, in the file that is broken. */
export function slip(
  title: string,
  file: string,
  change: readonly [string, string],
  told: readonly [string, string],
): Slip {
  const [code, way] = told;
  const at = code.lastIndexOf(' ') + 1;
  const place = `${code.slice(0, at)}${file}:${code.slice(at)}`;
  return { slip: title, file, from: change[0], to: change[1], told: [[place, way]] };
}

export const network = 'manifests/network.yaml';
export const payments = 'manifests/payments.yaml';
export const platform = 'manifests/platform.yaml';
export const clusterAuth = 'manifests/cluster-auth.yaml';
export const stack = 'trueup.yaml';
