/// What an answer means for all messages of the application.
public enum ApplicationEffect: String, Sendable, Hashable, Codable {
    /// Nothing.
    case none
    /// Each of them would be refused: stop sending and tell the operator.
    case stop
    /// The provider token or access token has to be renewed.
    case renewToken = "renew_token"
    /// The gateway wants less of the whole project: the child that hears it sends nothing of the application for a while. Others
    /// hear it themselves.
    case pause
}
