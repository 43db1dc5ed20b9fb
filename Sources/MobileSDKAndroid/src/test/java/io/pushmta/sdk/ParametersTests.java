package io.pushmta.sdk;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** The test vectors of Adobe's Android SDK for {@code additionalParams}. */
final class ParametersTests {
    private static String one(Object value) {
        String document = ParametersXml.document(Collections.singletonMap("k", value));
        String start = "<additionalParameters><param name=\"k\" value=\"";
        String end = "\"/></additionalParameters>";
        Check.isTrue(document.startsWith(start) && document.endsWith(end), document);
        return document.substring(start.length(), document.length() - end.length());
    }

    void testNoneIsAnEmptyRoot() {
        String expected = "%3CadditionalParameters%3E%3C%2FadditionalParameters%3E";
        Check.equal(PercentEncoder.encode(ParametersXml.document(null)), expected);
        Check.equal(PercentEncoder.encode(ParametersXml.document(Collections.singletonMap("company", null))), expected);
        Check.isTrue(Samples.registration("u", null).body("k").endsWith("additionalParams=" + expected), "in the body");
    }

    void testTypes() {
        Check.equal(one(3.14f), "3.14");
        Check.equal(one(6.75), "6.75");
        Check.equal(one(500L), "500");
        Check.equal(one((byte) 100), "100");
        Check.equal(one('a'), "97");
        Check.equal(one((short) 200), "200");
        Check.equal(one(3233), "3233");
        Check.equal(one(true), "true");
        Check.equal(one(new StringBuilder("other")), "other");
    }

    void testEscapes() {
        Check.equal(one("'h>e&l\"l<o'\r\n"), "&#39;h&gt;e&amp;l&quot;l&lt;o&#39;");
        Check.equal(one("a\0\u001b\uffffb\tc\ud83d\ude00"), "ab\tc\ud83d\ude00");
    }

    void testEmptyNameAndValue() {
        Check.equal(ParametersXml.document(Collections.singletonMap("", "")),
                "<additionalParameters><param name=\"\" value=\"\"/></additionalParameters>");
    }

    void testTheMapsOrder() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("b", 1);
        map.put(null, "no name");
        map.put("a", 2);
        Check.equal(ParametersXml.document(map), "<additionalParameters><param name=\"b\" value=\"1\"/>"
                + "<param name=\"a\" value=\"2\"/></additionalParameters>");
    }
}
