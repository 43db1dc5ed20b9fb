package io.pushmta.sdk;

import java.util.Collections;
import java.util.Map;

/** The values of the test vectors of Adobe's Android SDK. */
final class Samples {
    static final Map<String, String> PARAMETERS = Collections.singletonMap("key", "value");
    static final String BODY = "registrationToken=testToken&mobileAppUuid=testIntegrationKey&userKey=testUser&deviceImei=12345"
            + "&deviceName=mockDevice&deviceModel=mockDeviceName&deviceBrand=mockDeviceBrand"
            + "&deviceManufacturer=mockDeviceManufacturer&osName=android&osVersion=mockOSName%20mockOSVersion"
            + "&osLanguage=mocklocale&additionalParams=%3CadditionalParameters%3E%3Cparam%20name%3D%22key%22%20value%3D%22value"
            + "%22%2F%3E%3C%2FadditionalParameters%3E";
    static final String UUID = "6b6499a8-9d43-4bc5-acf0-b6aeb96846f6";

    private Samples() {
    }

    static DeviceInfo device() {
        return new DeviceInfo("12345", "mockDevice", "mockDeviceName", "mockDeviceBrand", "mockDeviceManufacturer",
                "mockOSName mockOSVersion", "mocklocale");
    }

    static Registration registration(String userKey, Map<String, ?> parameters) {
        return new Registration("testToken", userKey, ParametersXml.document(parameters), device());
    }

    /** A client whose first retry comes at once. */
    static PushClient client(TestServer server, Storage storage) {
        PushClient client = new PushClient(new HttpTransport(20), 1, 5);
        client.setStorage(storage);
        client.setMarketingHost(server.base());
        client.setTrackingHost(server.base());
        client.setIntegrationKey("testIntegrationKey");
        return client;
    }

    /** A client that does not retry within a test unless asked. */
    static PushClient patientClient(TestServer server, Storage storage) {
        PushClient client = new PushClient(new HttpTransport(20), 3_600_000, 5);
        client.setStorage(storage);
        client.setMarketingHost(server.base());
        client.setTrackingHost(server.base());
        client.setIntegrationKey("testIntegrationKey");
        return client;
    }
}
