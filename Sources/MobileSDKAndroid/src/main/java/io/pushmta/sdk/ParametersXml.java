package io.pushmta.sdk;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The {@code additionalParams} document of a registration.
 *
 * <p>It has the form of Adobe's Android SDK: the root is {@code additionalParameters} (on iOS it differs), no space
 * precedes {@code />}, the order is the map's, and an apostrophe is {@code &#39;}.
 */
final class ParametersXml {
    /** The name of the parameter that carries the proof of the user key; the server removes it. */
    static final String PROOF = "userKeyProof";

    private static final String HEAD = "<additionalParameters>";
    private static final String TAIL = "</additionalParameters>";

    /** The value contains no quotation mark, as it is escaped. */
    private static final Pattern PROOF_ELEMENT = Pattern.compile("<param name=\"" + PROOF + "\" value=\"[^\"]*\"/>");

    private ParametersXml() {
    }

    /** The document, before percent-encoding. Null values are omitted; no parameters give an empty root element. */
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
     * The new document, completed with the stored parameters if the app passed none (null, or a document with only the
     * proof of the user key).
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

    /** The value's text. A character is sent as its code number, as in Adobe's SDK. */
    private static String text(Object value) {
        if (value instanceof Character) {
            return Integer.toString((Character) value);
        }
        return value.toString();
    }

    /**
     * The text as an attribute's value. Line breaks are dropped, as in Adobe's SDK. So are control characters that XML
     * 1.0 (section 2.2) cannot represent: a server would refuse the whole registration because of one.
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
