import Foundation

@testable import MobileSDK

extension Registration {
    /// The token of the vectors, on a phone.
    static func sample(userKey: String = "", _ parameters: [String: ParameterValue] = [:]) -> Registration {
        Registration(
            token: RegistrationForm.hex(Data("pushToken".utf8)),
            userKey: userKey,
            parametersXML: ParametersXML.document(parameters),
            device: .phone
        )
    }
}

extension WantedRegistration {
    /// The same as an app asks for it.
    static func sample(
        token: String = "pushToken",
        userKey: String = "",
        _ parameters: [String: ParameterValue]? = [:]
    ) -> WantedRegistration {
        WantedRegistration(
            token: RegistrationForm.hex(Data(token.utf8)),
            userKey: userKey,
            parametersXML: parameters.map { ParametersXML.document($0) },
            device: .phone
        )
    }
}

extension DeviceDescription {
    static let phone = DeviceDescription(
        name: "My Phone",
        model: "iPhone",
        systemName: "iOS",
        systemVersion: "17.4",
        language: "en_US"
    )
}

extension TransportResult {
    static let ok = TransportResult(PushAnswer(status: 200))
    static let offline = TransportResult.failure(reason: "offline")

    static func status(_ status: Int, _ body: String = "", retryAfter: String? = nil) -> TransportResult {
        TransportResult(PushAnswer(status: status, body: Data(body.utf8), retryAfter: retryAfter))
    }
}
