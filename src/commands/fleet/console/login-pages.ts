/** The pages around a login. They are for strangers too, so they say nothing of the fleet. */
import { html } from './html.ts';
import { plainDocument } from './layout.ts';

/**
 * A page that leads to the issuer by itself. An answer that leads on would be refused where the request is a form: the console allows forms
 * to lead to the console only.
 */
export function signInPage(address: string): string {
  return plainDocument({
    title: 'Sign in',
    head: html`<meta http-equiv="refresh" content="0; url=${address}">`,
    body: html`<section><p>You are taken to the page where you sign in.</p>
<p><a href="${address}">Continue</a></p></section>`,
  });
}

/** @param why a full sentence */
export function signInProblem(why: string): string {
  return plainDocument({
    title: 'Not signed in',
    body: html`<section><p>${why}</p>
<p><a href="/login">Sign in again</a></p></section>`,
  });
}

export function signedOutPage(): string {
  return plainDocument({
    title: 'Signed out',
    body: html`<section><p>You are signed out. At the issuer you may still be signed in.</p>
<p><a href="/login">Sign in</a></p></section>`,
  });
}
