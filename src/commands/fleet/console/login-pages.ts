/** The pages of a login. Everybody can open them, so they show nothing about the fleet. */
import { html } from './html.ts';
import { plainDocument } from './layout.ts';

/**
 * A page that opens the issuer by itself. After a form, browsers would refuse a redirect to the issuer, because forms of the console may
 * only lead to the console.
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
