/** The manifests of these tests: documents with only what a case is about spelt out. */
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

/** `workspace('app', { autoApply: true }, { adopt: true })`: name, spec, more metadata. */
export const workspace = document('Workspace');
export const tagBindings = document('TagBindings');
export const consumers = document('RemoteStateConsumers');

/** The one config of the mount, complete, with these fields besides. */
export const clusterAuthConfig = (spec: object = {}) =>
  document('ClusterAuthConfig')('config', {
    clusterHost: 'https://cluster.internal:6443',
    clusterCaCert: otherCaCert,
    ...spec,
  });

/** A role that is complete, with these fields besides. */
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
