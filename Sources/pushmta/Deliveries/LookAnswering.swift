import Administration
import Content
import Gateways
import MTAChild
import PushCore
import Store

/// Answers what somebody asked about a delivery in SQL.
enum LookAnswering {
    /// The answer, or why there is none.
    static func answer(_ look: DeliveryLook, _ store: Store) async throws -> DeliveryLookAnswer {
        do {
            guard let subscription = look.subscriptionID else {
                return .counts(try await store.countTargetRoughly(ofDelivery: look.deliveryID))
            }
            return .message(try await message(look, to: subscription, store))
        } catch let error as ContentError {
            return .problem("\(error)")
        } catch let error as MessageIDError {
            return .problem("\(error)")
        } catch let error as CommandFailure {
            return .problem("\(error)")
        } catch let error as LoadProblem {
            return .problem(error.text)
        } catch let error as StoreError where [.notFound, .invalid, .unavailable].contains(error.code) {
            return .problem("\(error)")
        }
    }

    private static func message(_ look: DeliveryLook, to subscription: Int64, _ store: Store) async throws
        -> DeliveryLookAnswer.Message
    {
        let source = try await PreviewSource.delivery(
            look.deliveryID,
            variant: look.variant,
            application: nil,
            store
        )
        let found = try await source.message(
            of: "\(subscription)",
            variables: try await store.targetVariables(ofDelivery: look.deliveryID, subscription: subscription),
            store
        )
        let preview = found.preview.hiding(found.token)
        var message = DeliveryLookAnswer.Message()
        message.application = found.application
        message.locale = preview.locale
        message.headers = Dictionary(preview.headers.map { ($0.name, $0.value) }) { first, _ in first }
        message.payload = String(decoding: preview.payload, as: UTF8.self)
        message.bytes = preview.size
        message.limit = preview.limit
        message.problem = preview.problem ?? ""
        message.notice = preview.notice ?? ""
        return message
    }
}
