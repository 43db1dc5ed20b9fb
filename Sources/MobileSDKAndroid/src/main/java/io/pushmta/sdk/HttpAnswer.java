package io.pushmta.sdk;

/** A server's answer. */
public final class HttpAnswer {
    /** The maximum length of a reported reason, in characters. */
    static final int LONGEST_REASON = 200;

    private final int status;
    private final String body;
    private final String retryAfter;

    /** Makes an answer from the status, the beginning of the body, and the header {@code Retry-After} or null. */
    public HttpAnswer(int status, String body, String retryAfter) {
        this.status = status;
        this.body = body == null ? "" : body;
        this.retryAfter = retryAfter;
    }

    /** The HTTP status. */
    public int getStatus() {
        return status;
    }

    boolean isSuccess() {
        return status == 200;
    }

    /**
     * Whether the same request may succeed later: the server is busy or broken, or something in between redirected the
     * request, as the network of a hotel does.
     */
    boolean isWorthRetrying() {
        return status >= 300 && status < 400 || status == 408 || status == 425 || status == 429 || status >= 500 && status < 600;
    }

    /** The body's first line, or the status if that line is empty or the HTML of a proxy's error page. */
    String reason() {
        for (String line : body.split("[\r\n]+")) {
            String text = line.trim();
            if (text.startsWith("<")) {
                break;
            }
            if (!text.isEmpty()) {
                return text.substring(0, Math.min(text.length(), LONGEST_REASON));
            }
        }
        return "HTTP status " + status;
    }

    /** How long the server asks to wait; 0 if it does not. */
    long retryAfterMillis() {
        try {
            long seconds = retryAfter == null ? 0 : Long.parseLong(retryAfter.trim());
            return Math.max(0, Math.min(seconds, BackOff.LONGEST_ASKED_MILLIS / 1000)) * 1000;
        } catch (NumberFormatException error) {
            return 0;
        }
    }
}
