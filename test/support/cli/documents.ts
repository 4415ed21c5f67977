/** Makers of manifest documents, for which a test gives only the fields that it is about. */
import { otherCaCert } from '../kinds/cluster-auth-config/pem-samples.ts';

export interface Document {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: object;
  readonly spec?: object;
}

const header = (kind: string, metadata: object): Document => ({
  apiVersion: 'trueup.dev/v1',
  kind,
  metadata,
});

/** Makes the documents of one kind: `document('Workspace')('app', { autoApply: true })`. */
export const document =
  (kind: string) =>
  (name: string, spec: object = {}, metadata: object = {}): Document => ({
    ...header(kind, { name, ...metadata }),
    spec,
  });

/** `workspace('app', { autoApply: true }, { adopt: true })`: name, spec, further metadata. */
export const workspace = document('Workspace');
export const tagBindings = document('TagBindings');
export const consumers = document('RemoteStateConsumers');

/** The complete config of the mount, with these fields added or replaced. */
export const clusterAuthConfig = (spec: object = {}) =>
  document('ClusterAuthConfig')('config', {
    clusterHost: 'https://cluster.internal:6443',
    clusterCaCert: otherCaCert,
    ...spec,
  });

/** A complete role, with these fields added or replaced. */
export const role = (name: string, spec: object = {}, metadata: object = {}) =>
  document('ClusterAuthRole')(
    name,
    {
      boundServiceAccountNames: ['app'],
      boundServiceAccountNamespaces: ['payments'],
      tokenTtl: '1h',
      audience: 'vault',
      ...spec,
    },
    metadata,
  );

/** A removal request: a document without a spec. */
export const removalRequest = (kind: string, name: string, remove: 'safe' | 'force') =>
  header(kind, { name, remove });
