import Administration
import MTAChild
import PushCore
import Store

/// What is previewed: a content, and the applications that it goes to.
struct PreviewSource {
    /// The id for a content without a delivery; as short as the first real ones.
    private static let exampleID: Int64 = 16

    private let delivery: SendingDelivery
    private let applications: [ApplicationRow]
    private let accounts: [AccountRow]

    /// A delivery, for all of its applications or a single one.
    ///
    /// - Parameter variant: a variant of its experiment; 0 for its own content.
    static func delivery(
        _ id: Int64,
        variant: Int16 = 0,
        application: String?,
        _ store: Store
    ) async throws -> PreviewSource {
        if variant != 0 { try await store.requireVariant(variant, ofDelivery: id) }
        let delivery = try await store.deliveryForPreview(id, variant: variant)
        let job = try await store.job(id)
        let chosen = job.applications.indices.filter { application == nil || job.applications[$0].name == application }
        guard !chosen.isEmpty else {
            throw CommandFailure.unknownName(
                "application of delivery \(id) named",
                application ?? "",
                among: job.applications.map(\.name),
                list: "app list"
            )
        }
        return PreviewSource(
            delivery: delivery,
            applications: chosen.map { job.applications[$0] },
            accounts: chosen.map { job.accounts[$0] }
        )
    }

    /// A content without a delivery.
    static func content(_ json: String, application name: String, _ store: Store) async throws -> PreviewSource {
        let application = try await store.application(named: name)
        let delivery = SendingDelivery(
            id: exampleID,
            label: "",
            content: json,
            state: .editing,
            trackingKey: Array(repeating: 0, count: 16),
            messageIDBase: nil,
            validUntil: nil,
            ambiguityPolicy: .resend,
            maxRetries: 0,
            logDay: LogDay(daysSince2000: 0),
            hasVariables: true
        )
        return PreviewSource(
            delivery: delivery,
            applications: [application],
            accounts: [try await ApplicationRouting(application, store).account]
        )
    }

    /// The message that a subscription would get.
    func preview(of word: String, variables: String?, _ store: Store) async throws -> MessagePreview {
        try await message(of: word, variables: variables, store).preview
    }

    /// The same, with its push token and the name of its application.
    func message(of word: String, variables: String?, _ store: Store) async throws -> (
        preview: MessagePreview, token: String, application: String
    ) {
        let address = try await store.previewAddress(word, applications: applications.map(\.id))
        guard let place = applications.firstIndex(where: { $0.id == address.applicationID }) else {
            throw CommandFailure(.software, "The subscription's application has changed in the meantime.")
        }
        let routing = try await ApplicationRouting(applications[place], account: accounts[place], store)
        let previewer = try await MessagePreviewer.make(
            delivery,
            application: applications[place],
            account: routing.account,
            credential: routing.credential,
            projectID: routing.projectID,
            store: store
        )
        let loaded = try await store.loadSubscription(
            address.subscriptionID,
            previewer.fields,
            variables: variables ?? address.variables
        )
        let now = try await store.databaseClock().microsecondsSince1970 / 1_000_000
        guard let preview = previewer.preview(loaded, now: now) else {
            throw CommandFailure(.software, "Subscription \(address.subscriptionID) could not be read.")
        }
        return (preview, loaded.tokens.string(0), applications[place].name)
    }
}
