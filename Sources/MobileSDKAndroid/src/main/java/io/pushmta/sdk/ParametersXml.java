package io.pushmta.sdk;

import java.util.Map;

/**
 * The {@code additionalParams} document of a registration.
 *
 * <p>Form of Adobe's Android SDK: the root is {@code additionalParameters} (iOS has another one), no space stands before
 * {@code />}, the order is the map's, and an apostrophe is {@code &#39;}.
 */
final class ParametersXml {
    private ParametersXml() {
    }

    /** The document, not percent-encoded. Null values are left out, and no parameters are an empty root element. */
    static String document(Map<String, ?> parameters) {
        StringBuilder result = new StringBuilder("<additionalParameters>");
        if (parameters != null) {
            for (Map.Entry<String, ?> entry : parameters.entrySet()) {
                if (entry.getKey() == null || entry.getValue() == null) {
                    continue;
                }
                result.append("<param name=\"").append(escape(entry.getKey())).append("\" value=\"")
                        .append(escape(text(entry.getValue()))).append("\"/>");
            }
        }
        return result.append("</additionalParameters>").toString();
    }

    /** The value's text. A character is its code number: that is what Adobe's SDK sends. */
    private static String text(Object value) {
        if (value instanceof Character) {
            return Integer.toString((Character) value);
        }
        return value.toString();
    }

    /**
     * The text as an attribute's value. Line ends are dropped, as Adobe's SDK does it; so are control characters that XML 1.0
     * (section 2.2) has no form for, because a server would refuse the whole registration for one of them.
     */
    static String escape(String text) {
        StringBuilder result = new StringBuilder(text.length() + 16);
        for (int index = 0; index < text.length(); index++) {
            char letter = text.charAt(index);
            switch (letter) {
                case '&':
                    result.append("&amp;");
                    break;
                case '<':
                    result.append("&lt;");
                    break;
                case '>':
                    result.append("&gt;");
                    break;
                case '"':
                    result.append("&quot;");
                    break;
                case '\'':
                    result.append("&#39;");
                    break;
                default:
                    if (letter == '\t' || letter >= 0x20 && letter != 0xFFFE && letter != 0xFFFF) {
                        result.append(letter);
                    }
            }
        }
        return result.toString();
    }
}
