package io.pushmta.sdk;

/** A request of the SDK. */
public final class HttpRequest {
    private final String method;
    private final String url;
    private final String contentType;
    private final String body;

    /** Makes a request; content type and body are null if it has none. */
    public HttpRequest(String method, String url, String contentType, String body) {
        this.method = method;
        this.url = url;
        this.contentType = contentType;
        this.body = body;
    }

    /** {@code GET} or {@code POST}. */
    public String getMethod() {
        return method;
    }

    /** The URL. */
    public String getUrl() {
        return url;
    }

    /** The header {@code Content-Type}, or null. */
    public String getContentType() {
        return contentType;
    }

    /** The form, or null. */
    public String getBody() {
        return body;
    }
}
