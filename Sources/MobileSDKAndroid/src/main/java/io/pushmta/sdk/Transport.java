package io.pushmta.sdk;

import java.io.IOException;

/** Sends requests. An app may supply its own transport, for certificate pinning or a proxy. */
public interface Transport {
    /** Sends a request and waits for the answer; throws if there is none. */
    HttpAnswer send(HttpRequest request) throws IOException;
}
