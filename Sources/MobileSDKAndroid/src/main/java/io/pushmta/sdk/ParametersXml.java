package io.pushmta.sdk;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The {@code additionalParams} document of a registration.
 *
 * <p>Form of Adobe's Android SDK: the root is {@code additionalParameters} (iOS has another one), no space stands before
 * {@code />}, the order is the map's, and an apostrophe is {@code &#39;}.
 */
final class ParametersXml {
    /** The name of the parameter in which a proof of the user key travels; the server takes it out. */
    static final String PROOF = "userKeyProof";

    private static final String HEAD = "<additionalParameters>";
    private static final String TAIL = "</additionalParameters>";

    /** A value has no quotation mark, as it is escaped. */
    private static final Pattern PROOF_ELEMENT = Pattern.compile("<param name=\"" + PROOF + "\" value=\"[^\"]*\"/>");

    private ParametersXml() {
    }

    /** The document, not percent-encoded. Null values are left out, and no parameters are an empty root element. */
    static String document(Map<String, ?> parameters) {
        StringBuilder result = new StringBuilder(HEAD);
        if (parameters != null) {
            for (Map.Entry<String, ?> entry : parameters.entrySet()) {
                if (entry.getKey() == null || entry.getValue() == null) {
                    continue;
                }
                result.append("<param name=\"").append(escape(entry.getKey())).append("\" value=\"")
                        .append(escape(text(entry.getValue()))).append("\"/>");
            }
        }
        return result.append(TAIL).toString();
    }

    /**
     * What is said, with the kept parameters where nothing is said of them: by null, or by a document of a user key's proof alone.
     */
    static String completed(String said, String kept) {
        if (said == null) {
            return kept == null ? document(null) : kept;
        }
        Matcher proof = PROOF_ELEMENT.matcher(said);
        if (kept == null || !proof.find() || said.length() != HEAD.length() + proof.group().length() + TAIL.length()) {
            return said;
        }
        String others = PROOF_ELEMENT.matcher(kept).replaceAll("");
        return others.substring(0, others.length() - TAIL.length()) + proof.group() + TAIL;
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
