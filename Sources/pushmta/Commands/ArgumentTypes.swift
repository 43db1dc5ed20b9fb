import ArgumentParser
import PushCore

// The command line takes these words as they stand in the database.
extension Connector: ExpressibleByArgument {}
extension ApplicationEnvironment: ExpressibleByArgument {}
extension Platform: ExpressibleByArgument {}
extension TrialRoute.Proof: ExpressibleByArgument {}
extension MessageIDFormat: ExpressibleByArgument {}
extension UserKeyTrust: ExpressibleByArgument {}
