import PushCore

/// Simulated devices to register with an application.
struct FleetRegistration: Sendable, Equatable {
    var integrationKey: String
    var platform: Platform
    /// The devices' numbers. A device has the same token whenever it registers.
    var numbers: Range<Int>
    /// The seed that distinguishes these devices from another simulator's.
    var seed: UInt64

    /// The maximum number of devices in one request to the control port.
    static let maxCount = 100_000_000

    /// The body of a device's request, as Adobe's SDKs write it.
    func body(_ number: Int) -> String {
        let name = "Person%20\(number)"
        switch platform {
        case .ios:
            return "registrationToken=\(token(number))&mobileAppUuid=\(integrationKey)&userKey=person-\(number)"
                + "&deviceName=iPhone&deviceModel=iPhone&deviceBrand=Apple&deviceManufacturer=Apple&osName=iOS"
                + "&osVersion=iOS%2018.1&osLanguage=en-US&additionalParams=%3CadditionalParams%3E%3Cparam%20name%3D%22"
                + "firstName%22%20value%3D%22\(name)%22%20%2F%3E%3C%2FadditionalParams%3E"
        case .android:
            return "registrationToken=\(token(number))&mobileAppUuid=\(integrationKey)&userKey=person-\(number)"
                + "&deviceImei=\(word(number, 9))&deviceName=generic&deviceModel=Pixel&deviceBrand=google"
                + "&deviceManufacturer=Google&osName=android&osVersion=Android%2015&osLanguage=en-US"
                + "&additionalParams=%3CadditionalParameters%3E%3Cparam%20name%3D%22firstName%22%20value%3D%22\(name)"
                + "%22%2F%3E%3C%2FadditionalParameters%3E"
        }
    }

    /// The path of a device's request.
    var path: String {
        switch platform {
        case .ios: "/nms/mobile/1/registerIOS.jssp"
        case .android: "/nms/mobile/1/registerAndroid.jssp"
        }
    }

    /// The device's token: 32 bytes in hex, or a registration token of the usual form and length.
    func token(_ number: Int) -> String {
        switch platform {
        case .ios: return (0..<4).map { word(number, $0) }.joined()
        case .android:
            let long = (0..<8).map { word(number, $0) }.joined()
            return "\(word(number, 8)):APA91b\(long)"
        }
    }

    /// 16 hexadecimal digits that depend on all inputs, mixed with SplitMix64's finalizer.
    private func word(_ number: Int, _ place: UInt64) -> String {
        var value =
            seed &+ UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15 &+ place &* 0xD1B5_4A32_D192_ED03
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        value ^= value >> 31
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
