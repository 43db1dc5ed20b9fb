package io.pushmta.sdk;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/** The state that outlives the process, as a form: the registration that the server has and the one still to send. */
final class RegistrationRecord {
    /** What the server is known to have: the mark, the server and the integration key; null if unknown. */
    String registered;
    /** The registration that is still to be sent, or null. */
    Registration pending;
    /** The newest registration that the app requested, in which a new token replaces the old one; or null. */
    Registration last;
    /** The opt-out choices by user key: true for out; false for in again, until the server has it. */
    final Map<String, Boolean> words = new TreeMap<>();
    /** The opt-out choice of the user who registers next; null for no choice. */
    Boolean nextWord;
    /** The choices by user key and category. */
    final Map<String, Map<String, Boolean>> categories = new TreeMap<>();
    /** The choices by category of the user who registers next. */
    final Map<String, Boolean> nextCategories = new TreeMap<>();

    /** The choices of a user, to be changed. */
    Map<String, Boolean> categoriesOf(String userKey) {
        Map<String, Boolean> own = categories.get(userKey);
        if (own == null) {
            own = new TreeMap<>();
            categories.put(userKey, own);
        }
        return own;
    }

    /** Parses what {@link #text} wrote. Other text gives an empty record, so that the device registers again. */
    static RegistrationRecord read(String text) {
        RegistrationRecord record = new RegistrationRecord();
        Map<String, String> fields = fields(text);
        if (fields == null) {
            return record;
        }
        readWords(fields.get("words"), record.words);
        readWords(fields.get("nextCategories"), record.nextCategories);
        Map<String, String> users = fields(fields.get("categories"));
        if (users != null) {
            for (Map.Entry<String, String> user : users.entrySet()) {
                String key = PercentEncoder.decode(user.getKey());
                if (key != null) {
                    readWords(user.getValue(), record.categoriesOf(key));
                }
            }
        }
        record.nextWord = fields.get("nextWord") == null ? null : Boolean.valueOf(fields.get("nextWord"));
        record.registered = fields.get("registered");
        record.last = registration(fields);
        record.pending = "true".equals(fields.get("pending")) ? record.last : null;
        return record;
    }

    /** Reads what {@link #words} wrote. */
    private static void readWords(String text, Map<String, Boolean> words) {
        Map<String, String> fields = fields(text);
        if (fields == null) {
            return;
        }
        for (Map.Entry<String, String> word : fields.entrySet()) {
            String name = PercentEncoder.decode(word.getKey());
            if (name != null) {
                words.put(name, "true".equals(word.getValue()));
            }
        }
    }

    /** Choices as a form; null for none. */
    private static String words(Map<String, Boolean> words) {
        StringBuilder said = new StringBuilder();
        for (Map.Entry<String, Boolean> word : words.entrySet()) {
            said.append(said.length() == 0 ? "" : "&").append(PercentEncoder.encode(word.getKey())).append('=').append(word.getValue());
        }
        return words.isEmpty() ? null : said.toString();
    }

    /** The fields of a form; null if the text is not a form. */
    private static Map<String, String> fields(String text) {
        Map<String, String> fields = new HashMap<>();
        for (String field : (text == null ? "" : text).split("&")) {
            int equals = field.indexOf('=');
            String value = equals < 0 ? null : PercentEncoder.decode(field.substring(equals + 1));
            if (value == null) {
                return null;
            }
            fields.put(field.substring(0, equals), value);
        }
        return fields;
    }

    /** The pending registration is always the newest one, so only the newest is written. */
    String text() {
        StringBuilder result = new StringBuilder("version=1");
        append(result, "registered", registered);
        append(result, "pending", pending == null ? null : "true");
        append(result, "words", words(words));
        append(result, "nextWord", nextWord == null ? null : nextWord.toString());
        append(result, "nextCategories", words(nextCategories));
        StringBuilder users = new StringBuilder();
        for (Map.Entry<String, Map<String, Boolean>> user : categories.entrySet()) {
            String own = words(user.getValue());
            if (own != null) {
                users.append(users.length() == 0 ? "" : "&").append(PercentEncoder.encode(user.getKey())).append('=')
                        .append(PercentEncoder.encode(own));
            }
        }
        append(result, "categories", users.length() == 0 ? null : users.toString());
        if (last != null) {
            append(result, "token", last.token);
            append(result, "userKey", last.userKey);
            append(result, "parameters", last.parameters);
            append(result, "id", last.device.id);
            append(result, "name", last.device.name);
            append(result, "model", last.device.model);
            append(result, "brand", last.device.brand);
            append(result, "manufacturer", last.device.manufacturer);
            append(result, "systemVersion", last.device.systemVersion);
            append(result, "language", last.device.language);
            append(result, "timeZone", last.device.timeZone);
            append(result, "optOut", last.optOut == null ? null : last.optOut.toString());
            append(result, "saidCategories", words(last.categories));
        }
        return result.toString();
    }

    private static void append(StringBuilder result, String name, String value) {
        if (value != null) {
            result.append('&').append(name).append('=').append(PercentEncoder.encode(value));
        }
    }

    private static Registration registration(Map<String, String> fields) {
        if (fields.get("token") == null || fields.get("parameters") == null) {
            return null;
        }
        DeviceInfo device = new DeviceInfo(fields.get("id"), fields.get("name"), fields.get("model"), fields.get("brand"),
                fields.get("manufacturer"), fields.get("systemVersion"), fields.get("language"))
                .withTimeZone(fields.get("timeZone"));
        Boolean optOut = fields.get("optOut") == null ? null : Boolean.valueOf(fields.get("optOut"));
        Map<String, Boolean> categories = new TreeMap<>();
        readWords(fields.get("saidCategories"), categories);
        return new Registration(fields.get("token"), fields.get("userKey"), fields.get("parameters"), device, optOut, categories);
    }
}
