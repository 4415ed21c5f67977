/** The manifests of these tests: documents with only what a case is about spelt out. */

interface Document {
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

const document =
  (kind: string) =>
  (name: string, spec: object = {}, metadata: object = {}): Document => ({
    ...header(kind, { name, ...metadata }),
    spec,
  });

/** `workspace('app', { autoApply: true }, { adopt: true })`: name, spec, more metadata. */
export const workspace = document('Workspace');
export const tagBindings = document('TagBindings');
export const consumers = document('RemoteStateConsumers');

const authority = `-----BEGIN CERTIFICATE-----
MIIBhDCCASugAwIBAgIUYxooEZ6UjUVWgBLWqChBkWOrXrQwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMY2x1c3Rlci1jYS0yMCAXDTI2MTEyMDExMTg1MFoYDzIxMjYx
MDI3MTExODUwWjAXMRUwEwYDVQQDDAxjbHVzdGVyLWNhLTIwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAASqqKQBE3mWF3Cz1YD+vpV7Qo6zWRhXLP4XV9uOlT6P80M4
j0SrHzk3s6OWCLyleokFKAmjOiJwYPoSO21F60y8o1MwUTAdBgNVHQ4EFgQUTDEC
y0GaYE2MIgrjUAtwGxSWw0UwHwYDVR0jBBgwFoAUTDECy0GaYE2MIgrjUAtwGxSW
w0UwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiA0yGER0VN7V8ZE
rnzBRATxXCwZi0PWI4st4kIPtCmvwwIgdCU3njrXkdM8HHCH+YNpRe4xm7DUMt1X
PTMvwufnXZM=
-----END CERTIFICATE-----
`;

/** The one config of the mount, complete, with these fields besides. */
export const clusterAuthConfig = (spec: object = {}) =>
  document('ClusterAuthConfig')('config', {
    clusterHost: 'https://cluster.internal:6443',
    clusterCaCert: authority,
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

/** A tombstone (rule 23): a document without a spec. */
export const tombstone = (kind: string, name: string, remove: 'safe' | 'force') =>
  header(kind, { name, remove });
