import Foundation

/// The body and the mark of a registration, in the form of Adobe's iOS SDK.
enum RegistrationForm {
    /// The path on the marketing server.
    static let path = "/nms/mobile/1/registerIOS.jssp"

    /// As Adobe's SDK writes it, without a space.
    static let contentType = "application/x-www-form-urlencoded;charset=UTF-8"

    /// The form's body. The order of the fields is fixed.
    static func body(_ registration: Registration, integrationKey: String) -> String {
        let device = registration.device
        let fields = [
            ("registrationToken", registration.token), ("mobileAppUuid", integrationKey),
            ("userKey", registration.userKey), ("deviceName", device.name), ("deviceModel", device.model),
            ("deviceBrand", "Apple"), ("deviceManufacturer", "Apple"), ("osName", device.systemName),
            ("osVersion", "\(device.systemName) \(device.systemVersion)"), ("osLanguage", device.language),
            ("additionalParams", registration.parametersXML),
        ]
        return fields.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
    }

    /// SHA-256 of token, user key and encoded parameters: two registrations with the same hash say the same.
    static func hash(_ registration: Registration) -> String {
        let text = registration.token + registration.userKey + PercentEncoding.encode(registration.parametersXML)
        return SHA256Digest.hex(Array(text.utf8))
    }

    /// An APNs token in lower-case hexadecimal.
    static func hex(_ token: Data) -> String {
        token.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count < 2 ? "0" + digits : digits
        }.joined()
    }
}
