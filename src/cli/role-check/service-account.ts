/**
 * Which service account a JWT is for. JWTs of secrets have flat claims, projected ones have one object, which wins where it says
 * something. Pure. Source: wire/cluster-auth 3.
 */
import { serviceAccountClaims as root } from '../../http/dialects.ts';
import { quoted } from '../../model/quoted.ts';
import { claimNamed } from './claim-names.ts';
import type { Claims } from './parse-jwt.ts';

/** Empty texts where the JWT says nothing. */
export interface ServiceAccount {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/** Either the account, or a clause about the first claim that has another type than it must have. */
type ReadAccount = { readonly account: ServiceAccount } | { readonly problem: string };

export function readServiceAccount(claims: Claims): ReadAccount {
  const reader = new ClaimReader();
  const flat = {
    namespace: reader.text(claims, `${root}/serviceaccount/namespace`),
    name: reader.text(claims, `${root}/serviceaccount/service-account.name`),
    uid: reader.text(claims, `${root}/serviceaccount/service-account.uid`),
  };
  reader.text(claims, `${root}/serviceaccount/secret.name`);
  reader.list(claims, 'aud');
  const nested = reader.object(claims, root);
  const named = nested && reader.object(nested, 'serviceaccount', `${root}.serviceaccount`);
  const pod = nested && reader.object(nested, 'pod', `${root}.pod`);
  for (const member of ['name', 'uid']) if (pod) reader.text(pod, member, `${root}.pod.${member}`);
  const account = {
    ...flat,
    ...(nested && { namespace: reader.text(nested, 'namespace', `${root}.namespace`) }),
    ...(named && {
      name: reader.text(named, 'name', `${root}.serviceaccount.name`),
      uid: reader.text(named, 'uid', `${root}.serviceaccount.uid`),
    }),
  };
  return reader.problem === undefined ? { account } : { problem: reader.problem };
}

/** Reads members and keeps the first problem. */
class ClaimReader {
  problem: string | undefined;

  text(claims: Claims, name: string, path = name): string {
    const value = claimNamed(claims, name) ?? '';
    if (typeof value === 'string') return value;
    this.#note(`the claim ${quoted(path)} is no text`);
    return '';
  }

  list(claims: Claims, name: string): void {
    if (!Array.isArray(claimNamed(claims, name) ?? [])) this.#note(`the claim ${quoted(name)} is no list`);
  }

  object(claims: Claims, name: string, path = name): Claims | undefined {
    const value = claimNamed(claims, name) ?? undefined;
    if (value === undefined) return undefined;
    if (isObject(value)) return value;
    this.#note(`the claim ${quoted(path)} is no object`);
    return undefined;
  }

  #note(problem: string): void {
    this.problem ??= problem;
  }
}

function isObject(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
