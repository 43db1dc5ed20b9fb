package io.pushmta.sdk;

import java.io.IOException;

/** Sends requests; an app may bring its own, for certificate pinning or a proxy. */
public interface Transport {
    /** Sends a request and waits for the answer; throws when no answer came. */
    HttpAnswer send(HttpRequest request) throws IOException;
}
