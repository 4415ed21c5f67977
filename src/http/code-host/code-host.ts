/** Where a pull request is talked about, as the floors above see it: a service with an API, asked by paths below its address. */
import type { Json, JsonObject } from '../../model/json/json.ts';

export interface CodeHostRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** below the API's address, encoded, with query; or one of the other paths that the connection was opened for */
  readonly path: string;
  readonly body?: JsonObject;
  /** whether it is sent again where it may have been carried out already */
  readonly repeatable: boolean;
}

export interface CodeHostAnswer {
  readonly method: string;
  /** for messages */
  readonly url: string;
  readonly status: number;
  /** null when it is empty or no JSON */
  readonly body: Json;
  /** the service's own words about a failure; empty on success */
  readonly words: string;
  /** of a list that goes on */
  readonly nextPage?: number;
}

export interface CodeHost {
  /** @throws WireError when there is no answer, or when the wait that the service asks for does not fit into the run */
  send(request: CodeHostRequest): Promise<CodeHostAnswer>;
  close(): Promise<void>;
}
