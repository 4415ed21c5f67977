/** What tests use of `oidc-provider`, which comes without types; tsconfig.json puts this file in their place. */
import type { IncomingMessage, ServerResponse } from 'node:http';

interface Grant {
  addOIDCScope(scope: string): void;
  save(): Promise<string>;
}

interface Context {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
    readonly provider: {
      readonly Grant: new (of: { readonly clientId: string; readonly accountId: string }) => Grant;
    };
  };
}

interface Configuration {
  readonly clients: readonly object[];
  readonly claims: Readonly<Record<string, readonly string[]>>;
  readonly scopes: readonly string[];
  readonly jwks: { readonly keys: readonly object[] };
  readonly cookies: { readonly keys: readonly string[] };
  readonly features: { readonly devInteractions: { readonly enabled: boolean } };
  /** whether ID tokens have no claims of scopes beside an access token */
  readonly conformIdTokenClaims: boolean;
  readonly pkce: { required(): boolean };
  readonly ttl: Readonly<Record<string, number>>;
  readonly interactions: { url(context: unknown, interaction: { readonly uid: string }): string };
  findAccount(
    context: unknown,
    id: string,
  ): { readonly accountId: string; claims(): Promise<Readonly<Record<string, unknown>>> };
  loadExistingGrant(context: Context): Promise<Grant>;
}

export declare class Provider {
  constructor(issuer: string, configuration: Configuration);
  callback(): (request: IncomingMessage, response: ServerResponse) => void;
  interactionFinished(
    request: IncomingMessage,
    response: ServerResponse,
    result: { readonly login: { readonly accountId: string } },
  ): Promise<void>;
}
