import Foundation
import Testing

@testable import MobileSDK

/// The vectors of Adobe's iOS SDK.
@Suite struct RegistrationFormTests {
    private static let email: [String: ParameterValue] = ["email": "email@email.com", "userPoints": 3233]

    @Test func token() {
        #expect(RegistrationForm.hex(Data("pushToken".utf8)) == "70757368546f6b656e")
        #expect(RegistrationForm.hex(Data([0, 1, 0xFF])) == "0001ff")
    }

    @Test func wholeBody() {
        let body = RegistrationForm.body(.sample(userKey: "me & you"), integrationKey: "integrationKey")
        #expect(
            body
                == "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey&userKey=me%20%26%20you"
                + "&deviceName=My%20Phone&deviceModel=iPhone&deviceBrand=Apple&deviceManufacturer=Apple&osName=iOS"
                + "&osVersion=iOS%2017.4&osLanguage=en-US"
                + "&additionalParams=%3CadditionalParams%3E%3C%2FadditionalParams%3E"
        )
    }

    @Test func aTimeZoneIsSentAndMakesARegistrationNew() {
        var registration = Registration.sample(userKey: "userkey")
        let without = RegistrationForm.body(registration, integrationKey: "k")
        let hash = RegistrationForm.hash(registration)
        registration.device.timeZone = "Europe/Paris"
        #expect(RegistrationForm.body(registration, integrationKey: "k") == without + "&timeZone=Europe%2FParis")
        #expect(RegistrationForm.hash(registration) != hash)
    }

    @Test func noUserKeyIsAnEmptyOne() {
        #expect(RegistrationForm.body(.sample(), integrationKey: "k").contains("userKey=&"))
    }

    @Test func hashes() {
        #expect(
            RegistrationForm.hash(.sample(userKey: "userkey", Self.email))
                == "a40276d0637e4e22d9b41fbe24437e2f5c642c38653b57131cbb3660bfcb745f"
        )
        #expect(
            RegistrationForm.hash(.sample())
                == "08d813a01055453f331f330931661452b23e14148b43efa757e815dede4bf09d"
        )
        #expect(
            RegistrationForm.hash(.sample(userKey: "userkey"))
                == "6c78a6175d527e5d620285b86f718cfd524c0a26e65c4a8db5a0f8aa5b67e4f1"
        )
    }

    @Test func theDeviceIsNotPartOfTheHash() {
        var other = Registration.sample()
        other.device.systemVersion = "18.0"
        #expect(RegistrationForm.hash(other) == RegistrationForm.hash(.sample()))
    }
}
