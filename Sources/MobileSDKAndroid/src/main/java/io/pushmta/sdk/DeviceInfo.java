package io.pushmta.sdk;

/** The description of the device in a registration. On Android, {@code AndroidDevice.describe(context)} makes it. */
public final class DeviceInfo {
    final String id;
    final String name;
    final String model;
    final String brand;
    final String manufacturer;
    final String systemVersion;
    final String language;
    /** The time zone; null if it is not sent. */
    final String timeZone;

    /**
     * Describes a device.
     *
     * @param id            identifies the device: {@code Settings.Secure.ANDROID_ID}. A server that gets a new token
     *                      with it disables the device's old token.
     * @param name          {@code Build.DEVICE}
     * @param model         {@code Build.MODEL}
     * @param brand         {@code Build.BRAND}
     * @param manufacturer  {@code Build.MANUFACTURER}
     * @param systemVersion such as {@code Android 14}
     * @param language      {@code Locale.toString()}; underscores become hyphens, as the server expects
     */
    public DeviceInfo(String id, String name, String model, String brand, String manufacturer, String systemVersion,
            String language) {
        this(id, name, model, brand, manufacturer, systemVersion, language, null);
    }

    private DeviceInfo(String id, String name, String model, String brand, String manufacturer, String systemVersion,
            String language, String timeZone) {
        this.id = text(id);
        this.name = text(name);
        this.model = text(model);
        this.brand = text(brand);
        this.manufacturer = text(manufacturer);
        this.systemVersion = text(systemVersion);
        this.language = text(language).replace('_', '-');
        this.timeZone = timeZone == null || timeZone.isEmpty() ? null : timeZone;
    }

    /**
     * A copy with a time zone, such as {@code Europe/Paris}, which is then sent; null for none. It tells where a person
     * is, so it is personal data.
     */
    public DeviceInfo withTimeZone(String newTimeZone) {
        return new DeviceInfo(id, name, model, brand, manufacturer, systemVersion, language, newTimeZone);
    }

    /** Some devices lack the value of a field. */
    private static String text(String value) {
        return value == null ? "" : value;
    }
}
