import Foundation

/// The body and the hash of a registration, in the form of Adobe's iOS SDK.
enum RegistrationForm {
    /// The path on the marketing server.
    static let path = "/nms/mobile/1/registerIOS.jssp"

    /// As Adobe's SDK writes it, without a space.
    static let contentType = "application/x-www-form-urlencoded;charset=UTF-8"

    /// The form's body. The order of the fields is fixed.
    static func body(_ registration: Registration, integrationKey: String) -> String {
        let device = registration.device
        let fields =
            [
                ("registrationToken", registration.token), ("mobileAppUuid", integrationKey),
                ("userKey", registration.userKey), ("deviceName", device.name), ("deviceModel", device.model),
                ("deviceBrand", "Apple"), ("deviceManufacturer", "Apple"), ("osName", device.systemName),
                ("osVersion", "\(device.systemName) \(device.systemVersion)"), ("osLanguage", device.language),
                ("additionalParams", registration.parametersXML),
                // Without an opt-out and a time zone the form is that of Adobe's SDK.
            ] + (registration.optOut.map { [("optOut", "\($0)")] } ?? [])
            + (device.timeZone.map { [("timeZone", $0)] } ?? [])
        return (fields + categories(registration)).map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
    }

    /// The choices among categories: the names that the user does not want, and those that the user wants again.
    private static func categories(_ registration: Registration) -> [(String, String)] {
        [("categoriesOptOut", true), ("categoriesOptIn", false)].compactMap { field, isOut in
            let names = (registration.categories ?? [:]).filter { $0.value == isOut }.keys.sorted()
            return names.isEmpty ? nil : (field, names.joined(separator: ","))
        }
    }

    /// SHA-256 of token, user key, encoded parameters, opt-out choices and time zone. Registrations with the same hash
    /// have the same contents.
    static func hash(_ registration: Registration) -> String {
        let word = registration.optOut.map { $0 ? "out" : "in" } ?? ""
        let zone = registration.device.timeZone.map { [("timeZone", $0)] } ?? []
        let words = ([word] + (zone + categories(registration)).map { " \($0)=\($1)" }).joined()
        let text = registration.token + registration.userKey + PercentEncoding.encode(registration.parametersXML)
        return SHA256Digest.hex(Array((text + words).utf8))
    }

    /// A token given as text, without brackets and blanks, in lower case.
    static func token(_ text: String) -> String {
        text.filter { !"<> ".contains($0) }.lowercased()
    }

    /// An APNs token in lower-case hexadecimal.
    static func hex(_ token: Data) -> String {
        token.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count < 2 ? "0" + digits : digits
        }.joined()
    }
}

/// A registration as the app requests it, before omitted parameters are filled in.
struct WantedRegistration: Sendable, Equatable {
    var token: String
    var userKey: String
    /// Nil if the app passed no parameters.
    var parametersXML: String?
    var device: DeviceDescription
}
