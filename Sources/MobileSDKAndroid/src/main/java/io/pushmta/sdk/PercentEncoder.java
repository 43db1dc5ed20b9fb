package io.pushmta.sdk;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Percent-encoding as in Adobe's SDKs: every UTF-8 byte except {@code A-Z a-z 0-9 - . _ ~} becomes {@code %XX}.
 *
 * <p>{@link java.net.URLEncoder} is not suitable: it writes {@code +} for a space and does not encode {@code *}.
 */
final class PercentEncoder {
    private static final String DIGITS = "0123456789ABCDEF";

    private PercentEncoder() {
    }

    static String encode(String text) {
        StringBuilder result = new StringBuilder(text.length() + 16);
        for (byte value : text.getBytes(StandardCharsets.UTF_8)) {
            int code = value & 0xFF;
            if (isUnreserved(code)) {
                result.append((char) code);
            } else {
                result.append('%').append(DIGITS.charAt(code >> 4)).append(DIGITS.charAt(code & 15));
            }
        }
        return result.toString();
    }

    /** Decodes what {@link #encode} wrote; null for other text. */
    static String decode(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        for (int index = 0; index < text.length(); index++) {
            char letter = text.charAt(index);
            if (letter != '%') {
                if (!isUnreserved(letter)) {
                    return null;
                }
                bytes.write(letter);
                continue;
            }
            if (index + 2 >= text.length()) {
                return null;
            }
            int high = DIGITS.indexOf(text.charAt(index + 1));
            int low = DIGITS.indexOf(text.charAt(index + 2));
            if (high < 0 || low < 0) {
                return null;
            }
            bytes.write(high << 4 | low);
            index += 2;
        }
        return new String(bytes.toByteArray(), StandardCharsets.UTF_8);
    }

    private static boolean isUnreserved(int code) {
        return code >= 'A' && code <= 'Z' || code >= 'a' && code <= 'z' || code >= '0' && code <= '9' || code == '-'
                || code == '.' || code == '_' || code == '~';
    }
}
