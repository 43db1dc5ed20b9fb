package io.pushmta.sdk;

import java.util.Locale;
import java.util.regex.Pattern;

/** The path of a tracking request: {@code /r/?id=h<broad log>,<delivery>,<tag>}. */
final class TrackingPath {
    /** The notification arrived. */
    static final int RECEIVE = 1;
    /** Somebody clicked or opened it. */
    static final int CLICK = 2;

    private static final Pattern UUID =
            Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}");

    private TrackingPath() {
    }

    /**
     * The path, or null when there is nothing to track. The delivery's id is sent back as it came; one with blanks or control
     * characters is no id of an engine, and would make another request of it.
     */
    static String path(String messageId, String deliveryId, int tag) {
        String id = messageId == null ? null : messageId(messageId);
        if (id == null || deliveryId == null || deliveryId.isEmpty()) {
            return null;
        }
        for (int index = 0; index < deliveryId.length(); index++) {
            char letter = deliveryId.charAt(index);
            if (letter <= ' ' || letter == 0x7F || letter == '#') {
                return null;
            }
        }
        return "/r/?id=h" + id + "," + deliveryId + "," + tag;
    }

    /** A UUID as it is, a decimal number in hexadecimal (negative ones that fit into 32 bits have 8 digits), else null. */
    private static String messageId(String text) {
        if (UUID.matcher(text).matches()) {
            return text;
        }
        try {
            long number = Long.parseLong(text);
            boolean isShort = number < 0 && number >= Integer.MIN_VALUE;
            String hex = isShort ? Integer.toHexString((int) number) : Long.toHexString(number);
            return hex.toLowerCase(Locale.ROOT);
        } catch (NumberFormatException error) {
            return null;
        }
    }
}
