package io.pushmta.sdk;

/** A call did nothing or was refused by the server. A missing answer is an {@link java.io.IOException}. */
public final class PushException extends Exception {
    private static final long serialVersionUID = 1L;

    /** What is wrong. */
    public enum Code {
        /** No valid marketing host was set. */
        MARKETING_HOST_EMPTY,
        /** No valid tracking host was set. */
        TRACKING_HOST_EMPTY,
        /** No integration key was set. */
        INTEGRATION_KEY_EMPTY,
        /** The server has no application with this integration key. */
        UNKNOWN_INTEGRATION_KEY,
        /** The server refused and gave a reason. If it was only busy or broken, the SDK retries. */
        UNEXPECTED_ERROR,
        /** The notification has no valid ids, so there is nothing to track. */
        NO_IDS,
        /** A token was renewed before a device was registered. */
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

    /** The description, from the server if it gave one. */
    public String getErrorString() {
        return getMessage();
    }
}
