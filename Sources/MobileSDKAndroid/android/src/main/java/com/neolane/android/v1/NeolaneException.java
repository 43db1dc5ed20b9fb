package com.neolane.android.v1;

import io.pushmta.sdk.PushException;

/** A setting is missing, or the server refused. That nobody answered is an {@link java.io.IOException}. */
public final class NeolaneException extends Exception {
    /** The server refused and said why. If it was only busy or broken, the SDK tries again. */
    public static final int UNEXPECTED_ERROR = 1;
    /** No marketing host was set, or one that names no server. */
    public static final int MARKETING_HOST_EMPTY = 2;
    /** No tracking host was set, or one that names no server. */
    public static final int TRACKING_HOST_EMPTY = 3;
    /** No integration key was set. */
    public static final int INTEGRATION_KEY_EMPTY = 4;
    /** The server has no application with this integration key. */
    public static final int UNKNOWN_INTEGRATION_KEY = 5;
    /** The notification carries no ids of an engine, so there is nothing to track. */
    public static final int NO_IDS = 6;

    private static final long serialVersionUID = 1L;

    private final int errorCode;

    NeolaneException(PushException cause) {
        super(cause.getErrorString(), cause);
        errorCode = number(cause.getErrorCode());
    }

    /** What is wrong: one of the numbers above, which are this SDK's own. */
    public int getErrorCode() {
        return errorCode;
    }

    /** The same in words, from the server where it said something. */
    public String getErrorString() {
        return getMessage();
    }

    private static int number(PushException.Code code) {
        switch (code) {
            case MARKETING_HOST_EMPTY:
                return MARKETING_HOST_EMPTY;
            case TRACKING_HOST_EMPTY:
                return TRACKING_HOST_EMPTY;
            case INTEGRATION_KEY_EMPTY:
                return INTEGRATION_KEY_EMPTY;
            case UNKNOWN_INTEGRATION_KEY:
                return UNKNOWN_INTEGRATION_KEY;
            case NO_IDS:
                return NO_IDS;
            default:
                return UNEXPECTED_ERROR;
        }
    }
}
