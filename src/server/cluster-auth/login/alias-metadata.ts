/**
 * What a service account's annotations say of whom it is to the service: the metadata of its alias, where a config wants
 * them and the dialect knows them (wire/cluster-auth 1).
 * Invariant: annotations add to what a login knows of the account, and never replace it.
 */
import { isObject } from '../values/is-object.ts';
import { callCluster, type ClusterApi } from './call-cluster.ts';
import type { Refusal } from './refusal.ts';
import type { ServiceAccount } from './jwt/service-account.ts';

interface AnnotationQuestion {
  readonly account: ServiceAccount;
  /** Who asks. */
  readonly bearer: string;
  /** What annotations begin with that are meant for the service. */
  readonly prefix: string;
}

/** What the login itself says of the account. */
const RESERVED = [
  'service_account_uid',
  'service_account_name',
  'service_account_namespace',
  'service_account_secret_name',
];

/** The metadata in the account's annotations, or the refusal. */
export async function annotatedMetadata(
  api: ClusterApi,
  { account, bearer, prefix }: AnnotationQuestion,
): Promise<{ readonly metadata: Readonly<Record<string, string>> } | Refusal> {
  if (!account.namespace.isWellFormed() || !account.name.isWellFormed())
    return { status: 403, text: 'permission denied' };
  const [namespace, name] = [account.namespace, account.name].map(encodeURIComponent);
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}`;
  const answer = await callCluster(api, { method: 'GET', path, bearer });
  const annotations = answer?.status === 200 ? annotationsIn(answer.text) : undefined;
  if (annotations === undefined) return { status: 500, text: 'failed to get service account' };
  const metadata = Object.entries(annotations).flatMap(([key, value]) =>
    key.startsWith(prefix) && typeof value === 'string' ? [[key.slice(prefix.length), value] as const] : [],
  );
  const reserved = metadata.find(([key]) => RESERVED.includes(key));
  if (reserved !== undefined)
    return { status: 400, text: `annotation "${prefix}${reserved[0]}" is reserved by the service` };
  return { metadata: Object.fromEntries(metadata) };
}

function annotationsIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    const metadata = isObject(body) ? body['metadata'] : undefined;
    if (!isObject(metadata)) return undefined;
    return isObject(metadata['annotations']) ? metadata['annotations'] : {};
  } catch {
    return undefined;
  }
}
