/// A gateway's possible answers, each with a one-byte code: 0 accepted, 255 unanswered, the others rejections.
struct AnswerCatalog: Sendable {
    static let accepted: UInt8 = 0
    static let unanswered: UInt8 = 255
    /// The code of an answer that is not the gateway's own.
    static let scripted: UInt8 = 254

    /// The reasons in the order of their codes, from 1.
    let rejections: [String]
    private let statuses: [Int16]

    private static let apns = AnswerCatalog(
        rejections: APNsReason.allCases.map(\.rawValue),
        statuses: APNsReason.allCases.map { Int16($0.status) }
    )
    private static let fcm = AnswerCatalog(
        rejections: FCMReason.allCases.map(\.rawValue),
        statuses: FCMReason.allCases.map { Int16($0.status) }
    )

    private static let fcmLegacy = AnswerCatalog(
        rejections: FCMLegacyReason.allCases.map(\.rawValue),
        statuses: FCMLegacyReason.allCases.map { Int16($0.status) }
    )

    private static let apnsBinary = AnswerCatalog(
        rejections: BinaryStatus.allCases.map(\.rawValue),
        statuses: BinaryStatus.allCases.map { Int16($0.code) }
    )

    /// The catalog of this gateway.
    static func of(_ gateway: SimulatedGateway) -> AnswerCatalog {
        switch gateway {
        case .apns: apns
        case .fcm: fcm
        case .fcmLegacy: fcmLegacy
        case .apnsBinary: apnsBinary
        }
    }

    /// The code of a reason; nil if the gateway does not know it.
    func code(ofReason reason: String) -> UInt8? {
        rejections.firstIndex(of: reason).map { UInt8($0 + 1) }
    }

    /// The reason of a code, or `Accepted` or `Unanswered`.
    func name(_ code: UInt8) -> String {
        switch code {
        case Self.accepted: "Accepted"
        case Self.unanswered: "Unanswered"
        case Self.scripted: "Scripted"
        case let code where Int(code) <= rejections.count: rejections[Int(code) - 1]
        default: "Unknown"
        }
    }

    /// The HTTP status of a code, or the binary protocol's status; 0 for an answer that is never sent.
    func status(_ code: UInt8) -> Int {
        switch code {
        case Self.accepted: 200
        case let code where Int(code) <= statuses.count: Int(statuses[Int(code) - 1])
        default: 0
        }
    }
}
