package io.pushmta.sdk;

/** A call that did nothing, or that the server refused. No answer at all is an {@link java.io.IOException}. */
public final class PushException extends Exception {
    private static final long serialVersionUID = 1L;

    /** What is wrong. */
    public enum Code {
        /** No marketing host was set, or one that names no server. */
        MARKETING_HOST_EMPTY,
        /** No tracking host was set, or one that names no server. */
        TRACKING_HOST_EMPTY,
        /** No integration key was set. */
        INTEGRATION_KEY_EMPTY,
        /** The server has no application with this integration key. */
        UNKNOWN_INTEGRATION_KEY,
        /** The server refused and said why. If it was only busy or broken, the SDK tries again. */
        UNEXPECTED_ERROR,
        /** The notification carries no ids of an engine, so there is nothing to track. */
        NO_IDS,
        /** A token was renewed before anything was registered. */
        NOTHING_REGISTERED
    }

    private final Code code;

    PushException(Code code, String message) {
        super(message);
        this.code = code;
    }

    /** What is wrong. */
    public Code getErrorCode() {
        return code;
    }

    /** The same in words, from the server where it said something. */
    public String getErrorString() {
        return getMessage();
    }
}
